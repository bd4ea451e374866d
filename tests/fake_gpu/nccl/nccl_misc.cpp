// SPDX-License-Identifier: BSD-3-Clause
// Errors, memory and its registration, operators.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>

#include <nccl.h>

#include "tests/fake_gpu/nccl/call.hpp"

namespace fake_gpu {
namespace {

constexpr std::uintptr_t kWindowAlignment = 4096;

/// Handles of what is registered: each stands for nothing but that fact.
struct Registrations {
  std::mutex mutex;
  std::set<void*> handles;
};

Registrations& registrations() {
  static auto* const kRegistrations = new Registrations;
  return *kRegistrations;
}

ncclResult_t register_memory(ncclComm_t handle, const void* start, std::size_t bytes,
                             void** registration) {
  const CommPointer comm = find_comm(handle);
  if (comm == nullptr || !comm->is_ready() || registration == nullptr) {
    return refuse(ncclInvalidArgument, "register : no such communicator");
  }
  if (memory().contents(start, bytes) == nullptr || memory().device_of(start) != comm->device()) {
    return refuse(ncclInvalidArgument, "register : no such device memory");
  }
  const std::lock_guard guard(registrations().mutex);
  *registration = *registrations().handles.insert(new char).first;
  return ncclSuccess;
}

ncclResult_t forget(ncclComm_t handle, void* registration) {
  if (find_comm(handle) == nullptr)
    return refuse(ncclInvalidArgument, "deregister : no such communicator");
  const std::lock_guard guard(registrations().mutex);
  if (registrations().handles.erase(registration) == 0) {
    return refuse(ncclInvalidArgument, "deregister : not registered");
  }
  delete static_cast<char*>(registration);
  return ncclSuccess;
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) { return last_error(); }

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  return call_nccl("ncclMemAlloc", [&](FaultKind&) {
    if (pointer == nullptr || bytes == 0)
      return refuse(ncclInvalidArgument, "ncclMemAlloc : bad argument");
    if (use_device(this_thread().device) != cudaSuccess ||
        !memory().allocate(this_thread().device, bytes, pointer)) {
      return refuse(ncclUnhandledCudaError, "Cuda failure 'out of memory'");
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclMemFree(void* pointer) {
  return call_nccl("ncclMemFree", [&](FaultKind&) {
    if (pointer == nullptr) return ncclSuccess;
    if (!memory().is_start(pointer))
      return refuse(ncclInvalidArgument, "ncclMemFree : not allocated");
    if (await_device(memory().device_of(pointer)) != cudaSuccess) return ncclUnhandledCudaError;
    return memory().release(pointer) ? ncclSuccess : ncclInvalidArgument;
  });
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* start, size_t bytes, void** handle) {
  return call_nccl("ncclCommRegister",
                   [&](FaultKind&) { return register_memory(comm, start, bytes, handle); });
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return call_nccl("ncclCommDeregister", [&](FaultKind&) { return forget(comm, handle); });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* start, size_t bytes,
                                    ncclWindow_t* window, int) {
  return call_nccl("ncclCommWindowRegister", [&](FaultKind&) {
    if (reinterpret_cast<std::uintptr_t>(start) % kWindowAlignment != 0) {
      return refuse(ncclInvalidArgument, "window : not aligned to 4096 bytes");
    }
    void* handle = nullptr;
    const ncclResult_t status = register_memory(comm, start, bytes, &handle);
    if (status == ncclSuccess) *window = reinterpret_cast<ncclWindow_t>(handle);
    return status;
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return call_nccl("ncclCommWindowDeregister", [&](FaultKind&) { return forget(comm, window); });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t handle) {
  return call_nccl("ncclRedOpCreatePreMulSum", [&](FaultKind&) {
    const CommPointer comm = find_comm(handle);
    if (comm == nullptr || op == nullptr || size_of(type) == 0) {
      return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum : bad argument");
    }
    const void* value =
        residence == ncclScalarDevice ? memory().contents(scalar, size_of(type)) : scalar;
    if (value == nullptr)
      return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum : no scalar");
    Reduction how;
    how.kind = Reduction::Kind::PreMulSum;
    how.type = type;
    how.ranks = comm->ranks();
    std::memcpy(how.scalar.data(), value, size_of(type));
    *op = comm->add_operator(how);
    return ncclSuccess;
  });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t handle) {
  return call_nccl("ncclRedOpDestroy", [&](FaultKind&) {
    const CommPointer comm = find_comm(handle);
    const bool removed = comm != nullptr && comm->remove_operator(op);
    return removed ? ncclSuccess
                   : refuse(ncclInvalidArgument, "ncclRedOpDestroy : no such operator");
  });
}

}  // extern "C"
