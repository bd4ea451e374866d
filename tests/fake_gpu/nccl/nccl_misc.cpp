// SPDX-License-Identifier: BSD-3-Clause
// Errors, memory and its registration, operators.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include <nccl.h>

#include "tests/fake_gpu/nccl/call.hpp"
#include "tests/fake_gpu/nccl/config.hpp"

namespace fake_gpu {
namespace {

constexpr std::uintptr_t kWindowAlignment = 4096;

/// Handles of windows: each stands for nothing but that fact.
struct Windows {
  std::mutex mutex;
  std::set<void*> handles;
};

Windows& windows() {
  static auto* const kWindows = new Windows;
  return *kWindows;
}

bool registers_locally() {
  const char* given = std::getenv("NCCL_LOCAL_REGISTER");
  return given == nullptr || std::atoi(given) != 0;
}

ncclResult_t register_locally(const CommPointer& comm, void* start, std::size_t bytes,
                              void** handle) {
  *handle = nullptr;
  if (memory().contents(start, bytes) == nullptr || memory().device_of(start) != comm->device()) {
    return refuse(ncclInvalidArgument, "register : no such device memory");
  }
  if (registers_locally()) {
    *handle = comm->registrations().add(start, bytes, RegistrationCache::By::User);
  }
  return ncclSuccess;
}

ncclResult_t deregister_locally(const CommPointer& comm, void* handle) {
  if (handle == nullptr) return ncclSuccess;
  const bool known = comm->registrations().remove(handle, RegistrationCache::By::User);
  return known ? ncclSuccess : refuse(ncclInvalidUsage, "Deregister: Could not find handle");
}

/// What each rank does for a window, when all have come to it.
ncclResult_t make_window(const CommPointer& comm, void* start, std::size_t bytes,
                         ncclWindow_t* window) {
  const auto allocation = memory().allocation(start);
  if (!allocation || memory().contents(start, bytes) == nullptr ||
      memory().device_of(start) != comm->device()) {
    return refuse(ncclInvalidArgument, "window : no such device memory");
  }
  if ((reinterpret_cast<std::uintptr_t>(start) - allocation->start) % kWindowAlignment != 0) {
    return refuse(ncclInvalidArgument, "Window address must be suitably aligned.");
  }
  if (allocation->kind != MemoryKind::Virtual) {
    return refuse(ncclUnhandledCudaError, "Cuda failure 1 'invalid argument'");
  }
  const ncclResult_t met = comm->meet_for_window(bytes);
  if (met != ncclSuccess) return met;
  const std::lock_guard guard(windows().mutex);
  *window = reinterpret_cast<ncclWindow_t>(*windows().handles.insert(new char).first);
  return ncclSuccess;
}

/// What versions make of a window where there is no symmetric support.
ncclResult_t make_no_window(const CommPointer& comm, void* start, std::size_t bytes,
                            ncclWindow_t* window) {
  void* handle = nullptr;
  const ncclResult_t status =
      nccl_version() >= 22900 ? ncclSuccess : register_locally(comm, start, bytes, &handle);
  *window = reinterpret_cast<ncclWindow_t>(handle);
  return status;
}

ncclResult_t register_window(const CommPointer& comm, void* start, std::size_t bytes,
                             ncclWindow_t* window) {
  if (window == nullptr) return refuse(ncclInvalidArgument, "window : argument is NULL");
  const ncclResult_t ready = comm->ensure_ready();
  if (ready != ncclSuccess) return ready;
  *window = nullptr;
  const auto make = comm->has_symmetric_support() ? make_window : make_no_window;
  const ncclResult_t status = add_to_group(comm, [=] { return make(comm, start, bytes, window); });
  // From 2.28 on it does not tell that it has only begun.
  return status == ncclInProgress && nccl_version() >= 22800 ? ncclSuccess : status;
}

ncclResult_t deregister_window(const CommPointer& comm, ncclWindow_t window) {
  void* handle = window;
  if (handle == nullptr) return ncclSuccess;
  {
    const std::lock_guard guard(windows().mutex);
    if (windows().handles.erase(handle) == 1) {
      delete static_cast<char*>(handle);
      return ncclSuccess;
    }
  }
  return deregister_locally(comm, handle);
}

template <class Act>
ncclResult_t with_comm(const char* function, ncclComm_t handle, const Act& act) {
  return call_nccl(function, [&](FaultKind&) {
    const CommPointer comm = find_comm(handle);
    return comm == nullptr
               ? refuse(ncclInvalidArgument, std::string(function) + " : no such communicator")
               : act(comm);
  });
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
        !memory().allocate(this_thread().device, bytes, pointer, MemoryKind::Virtual)) {
      return refuse(ncclUnhandledCudaError, "Cuda failure 'out of memory'");
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclMemFree(void* pointer) {
  hang_if_lost();
  return call_nccl("ncclMemFree", [&](FaultKind&) {
    if (pointer == nullptr) return ncclSuccess;
    if (!memory().is_start(pointer))
      return refuse(ncclInvalidArgument, "ncclMemFree : not allocated");
    if (await_device(memory().device_of(pointer)) != cudaSuccess) return ncclUnhandledCudaError;
    return memory().release(pointer) ? ncclSuccess : ncclInvalidArgument;
  });
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* start, size_t bytes, void** handle) {
  return with_comm("ncclCommRegister", comm, [&](const CommPointer& found) {
    if (handle == nullptr) return refuse(ncclInvalidArgument, "register : argument is NULL");
    return register_locally(found, start, bytes, handle);
  });
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return with_comm("ncclCommDeregister", comm, [handle](const CommPointer& found) {
    return deregister_locally(found, handle);
  });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* start, size_t bytes,
                                    ncclWindow_t* window, int) {
  return with_comm("ncclCommWindowRegister", comm, [&](const CommPointer& found) {
    return register_window(found, start, bytes, window);
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return with_comm("ncclCommWindowDeregister", comm,
                   [window](const CommPointer& found) { return deregister_window(found, window); });
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
