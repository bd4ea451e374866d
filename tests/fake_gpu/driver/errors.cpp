// SPDX-License-Identifier: BSD-3-Clause
// The driver's errors: names and texts.
#include <cuda.h>

namespace {

struct ErrorText {
  CUresult error;
  const char* name;
  const char* text;
};

#define NAMED(error) error, #error

constexpr ErrorText kTexts[] = {
    {NAMED(CUDA_SUCCESS), "no error"},
    {NAMED(CUDA_ERROR_INVALID_VALUE), "invalid argument"},
    {NAMED(CUDA_ERROR_OUT_OF_MEMORY), "out of memory"},
    {NAMED(CUDA_ERROR_NOT_INITIALIZED), "initialization error"},
    {NAMED(CUDA_ERROR_DEVICE_UNAVAILABLE), "CUDA-capable device(s) is/are busy or unavailable"},
    {NAMED(CUDA_ERROR_NO_DEVICE), "no CUDA-capable device is detected"},
    {NAMED(CUDA_ERROR_INVALID_IMAGE), "device kernel image is invalid"},
    {NAMED(CUDA_ERROR_INVALID_CONTEXT), "invalid device context"},
    {NAMED(CUDA_ERROR_INVALID_HANDLE), "invalid resource handle"},
    {NAMED(CUDA_ERROR_NOT_FOUND), "named symbol not found"},
    {NAMED(CUDA_ERROR_ILLEGAL_ADDRESS), "an illegal memory access was encountered"},
    {NAMED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
     "operation not permitted when stream is capturing"},
    {NAMED(CUDA_ERROR_UNKNOWN), "unknown error"},
};

CUresult find(CUresult error, const char* ErrorText::*part, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const ErrorText& known : kTexts) {
    if (known.error == error) *text = known.*part;
  }
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  return find(error, &ErrorText::name, name);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return find(error, &ErrorText::text, text);
}

}  // extern "C"
