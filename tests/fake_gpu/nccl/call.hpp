// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nccl.h>

#include "tests/fake_gpu/nccl/communicator.hpp"
#include "tests/fake_gpu/nccl/group.hpp"

namespace fake_gpu {

/// A call that asks nothing of the device: counts it and strikes the faults that need no knowledge
/// of the call. The body sets the others to None when it has taken care of them.
template <class Body>
ncclResult_t call_without_device(const char* function, FaultKind fault, const Body& body) {
  const std::string text = std::string("FAKE_GPU_FAULT: ") + function;
  if (fault == FaultKind::Fail) return refuse(ncclSystemError, text + " was told to fail");
  if (fault == FaultKind::Oom)
    return refuse(ncclUnhandledCudaError, "Cuda failure 'out of memory'");
  const ncclResult_t result = body(fault);
  if (result != ncclSuccess && result != ncclInProgress) return result;
  if (fault == FaultKind::Hang) park_forever();
  if (fault == FaultKind::Slow) {
    sleep_slowly(function, device_error_flag());
  } else if (fault != FaultKind::None) {
    die(text + " does not do that");
  }
  return result;
}

template <class Body>
ncclResult_t call_without_device(const char* function, const Body& body) {
  return call_without_device(function, fault_plan().count_call(function), body);
}

/// Every other call of the API, which a broken device fails.
template <class Body>
ncclResult_t call_nccl(const char* function, const Body& body) {
  const FaultKind fault = fault_plan().count_call(function);
  lose_device(fault);
  const ncclResult_t result =
      device_error() != cudaSuccess
          ? refuse(ncclUnhandledCudaError, std::string(function) + " : the device is lost")
          : call_without_device(function, fault, body);
  if (result != ncclSuccess && result != ncclInProgress) spoil_group(result);
  return result;
}

}  // namespace fake_gpu
