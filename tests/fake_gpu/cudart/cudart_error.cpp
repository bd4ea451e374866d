// SPDX-License-Identifier: BSD-3-Clause
// Errors: their names and texts, and the last one.
#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/runtime.hpp"

namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define NAMED(error) error, #error

constexpr ErrorText kTexts[] = {
    {NAMED(cudaSuccess), "no error"},
    {NAMED(cudaErrorInvalidValue), "invalid argument"},
    {NAMED(cudaErrorMemoryAllocation), "out of memory"},
    {NAMED(cudaErrorInitializationError), "initialization error"},
    {NAMED(cudaErrorInvalidConfiguration), "invalid configuration argument"},
    {NAMED(cudaErrorInvalidMemcpyDirection), "invalid copy direction for memcpy"},
    {NAMED(cudaErrorInsufficientDriver),
     "CUDA driver version is insufficient for CUDA runtime version"},
    {NAMED(cudaErrorDevicesUnavailable), "CUDA-capable device(s) is/are busy or unavailable"},
    {NAMED(cudaErrorInvalidDeviceFunction), "invalid device function"},
    {NAMED(cudaErrorNoDevice), "no CUDA-capable device is detected"},
    {NAMED(cudaErrorInvalidDevice), "invalid device ordinal"},
    {NAMED(cudaErrorNoKernelImageForDevice),
     "no kernel image is available for execution on the device"},
    {NAMED(cudaErrorInvalidResourceHandle), "invalid resource handle"},
    {NAMED(cudaErrorIllegalState), "the operation cannot be performed in the present state"},
    {NAMED(cudaErrorNotReady), "device not ready"},
    {NAMED(cudaErrorIllegalAddress), "an illegal memory access was encountered"},
    {NAMED(cudaErrorLaunchFailure), "unspecified launch failure"},
    {NAMED(cudaErrorNotSupported), "operation not supported"},
    {NAMED(cudaErrorStreamCaptureUnsupported), "operation not permitted when stream is capturing"},
    {NAMED(cudaErrorStreamCaptureInvalidated),
     "operation failed due to a previous error during capture"},
    {NAMED(cudaErrorStreamCaptureUnmatched), "capture was not initiated in this stream"},
    {NAMED(cudaErrorStreamCaptureWrongThread),
     "attempt to terminate a thread-local capture sequence from another thread"},
    {NAMED(cudaErrorCapturedEvent),
     "operation not permitted on an event last recorded in a capturing stream"},
    {NAMED(cudaErrorUnknown), "unknown error"},
};

const ErrorText* find(cudaError_t error) {
  for (const ErrorText& known : kTexts) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* known = find(error);
  return known == nullptr ? "unrecognized error code" : known->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* known = find(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t broken = fake_gpu::device_error();
  return broken != cudaSuccess ? broken : fake_gpu::this_thread().last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t last = cudaPeekAtLastError();
  fake_gpu::this_thread().last_error = cudaSuccess;
  return last;
}

}  // extern "C"
