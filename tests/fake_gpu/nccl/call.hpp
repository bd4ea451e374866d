// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nccl.h>

#include "tests/fake_gpu/nccl/communicator.hpp"
#include "tests/fake_gpu/nccl/group.hpp"

namespace fake_gpu {

/// Every call of the API: counts it and strikes the faults that need no knowledge of the call. The
/// body sets the others to None when it has taken care of them.
template <class Body>
ncclResult_t call_nccl(const char* function, const Body& body) {
  FaultKind fault = fault_plan().count_call(function);
  const std::string text = std::string("FAKE_GPU_FAULT: ") + function + " does not do that";
  if (fault == FaultKind::Lost) set_device_error(cudaErrorDevicesUnavailable);
  ncclResult_t result = ncclSuccess;
  if (device_error() != cudaSuccess) {
    result = refuse(ncclUnhandledCudaError, std::string(function) + " : the device is lost");
  } else if (fault == FaultKind::Fail) {
    result =
        refuse(ncclSystemError, std::string("FAKE_GPU_FAULT: ") + function + " was told to fail");
  } else if (fault == FaultKind::Oom) {
    result = refuse(ncclUnhandledCudaError, "Cuda failure 'out of memory'");
  } else {
    result = body(fault);
    const bool good = result == ncclSuccess || result == ncclInProgress;
    if (good && fault == FaultKind::Hang) park_forever();
    if (good && fault != FaultKind::None) die(text);
  }
  if (result != ncclSuccess && result != ncclInProgress) spoil_group(result);
  return result;
}

}  // namespace fake_gpu
