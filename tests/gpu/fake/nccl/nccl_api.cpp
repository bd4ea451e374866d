// SPDX-License-Identifier: BSD-3-Clause
// The functions of NCCL's API. Communicators: made, asked, ended. Memory and its registration.
// Errors, and the functions that move data.
#include <algorithm>
#include <cstring>
#include <random>
#include <unistd.h>
#include <utility>

#include "tests/gpu/fake/nccl/operation.hpp"

namespace fake_gpu {
namespace {

/// A call that asks nothing of the device: counts it and strikes the faults that need no knowledge
/// of the call. The body sets the others to None when it has taken care of them.
template <class Body>
ncclResult_t call_without_device(const char* function, FaultKind fault, const Body& body) {
  const std::string text = std::string("FAKE_GPU_FAULT: ") + function;
  if (fault == FaultKind::Fail) return refuse(ncclSystemError, text + " fails as planted");
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

/// Starts a communicator that `*handle` then names; a group's end waits for those of the group.
ncclResult_t start(ncclComm_t* handle, const CommPointer& comm, FaultKind& fault) {
  *handle = keep_comm(comm);
  const FaultKind struck = std::exchange(fault, FaultKind::None);
  if (struck == FaultKind::Async)
    comm->fail(ncclRemoteError, "FAKE_GPU_FAULT: async error in a communicator's start");
  comm->start(struck == FaultKind::Hang || struck == FaultKind::Async);
  if (in_group()) {
    add_to_group(comm);
    return comm->blocking() ? ncclSuccess : ncclInProgress;
  }
  if (!comm->blocking()) return ncclInProgress;
  const ncclResult_t ready = comm->await_ready();
  if (ready != ncclSuccess) {
    forget_comm(*handle);
    *handle = nullptr;
  }
  return ready;
}

std::string describe(const CommConfig& config) {
  const auto number = [](int value) {
    return value == CommConfig::kUndefined ? std::string("-") : std::to_string(value);
  };
  return " blocking=" + number(config.blocking ? 1 : 0) + " max_ctas=" + number(config.max_ctas) +
         " cta_policy=" + number(config.cta_policy) +
         " nvlink_centric_sched=" + number(config.nvlink_centric_sched) +
         " max_p2p_peers=" + number(config.max_p2p_peers);
}

ncclResult_t init_rank(ncclComm_t* handle, int ranks, const ncclUniqueId& id, int rank,
                       const ncclConfig_t* given, FaultKind& fault) {
  if (handle == nullptr) return invalid("CommInitRank : comm argument is NULL");
  *handle = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return invalid("Invalid rank requested : " + std::to_string(rank) + "/" +
                   std::to_string(ranks));
  }
  const std::string name(id.internal, ::strnlen(id.internal, NCCL_UNIQUE_ID_BYTES));
  if (name.rfind(segment_prefix(), 0) != 0 || name.find('/') != std::string::npos)
    return invalid("this is no unique id of the fake NCCL");
  if (use_device() != cudaSuccess) return refuse(ncclUnhandledCudaError, "Cuda failure: no device");
  CommConfig config;
  if (const auto status = read_config(given, ranks, &config); status != ncclSuccess) return status;
  trace("comm rank=" + std::to_string(rank) + " ranks=" + std::to_string(ranks) + describe(config));
  const int device = this_thread().device;
  return start(handle, std::make_shared<Communicator>(name, ranks, rank, device, config), fault);
}

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

ncclResult_t register_locally(const CommPointer& comm, void* start, std::size_t bytes,
                              void** handle) {
  *handle = nullptr;
  if (memory().contents(start, bytes) == nullptr || memory().device_of(start) != comm->device())
    return invalid("register : no such device memory");
  if (variable("NCCL_LOCAL_REGISTER") != 0)
    *handle = comm->registrations().add(start, bytes, RegistrationCache::By::User);
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
    return invalid("window : no such device memory");
  }
  if ((reinterpret_cast<std::uintptr_t>(start) - allocation->start) % kWindowAlignment != 0)
    return invalid("Window address must be suitably aligned.");
  if (allocation->kind != MemoryKind::Virtual)
    return refuse(ncclUnhandledCudaError, "Cuda failure 1 'invalid argument'");
  std::vector<Note> notes;
  if (!comm->meet(Line::Calls, {bytes}, &notes)) return ncclInternalError;
  const auto differs = [bytes](const Note& note) { return note[0] != bytes; };
  if (std::any_of(notes.begin(), notes.end(), differs))
    return refuse(ncclInvalidUsage, "windows differ in size between ranks");
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
  if (window == nullptr) return invalid("window : argument is NULL");
  if (const auto ready = comm->ensure_ready(); ready != ncclSuccess) return ready;
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
  const CommPointer comm = find_comm(handle);
  if (comm != nullptr) return act(comm);
  return invalid(std::string(function) + " : no such communicator");
}

ncclResult_t communicate(Operation operation, ncclComm_t comm) {
  return call_nccl(operation.function, [&](FaultKind& fault) {
    operation.fault = std::exchange(fault, FaultKind::None);
    const ncclResult_t status = operation.check(comm);
    return status != ncclSuccess ? status : add_to_group(operation);
  });
}

}  // namespace

int nccl_version() {
  const int given = variable("FAKE_NCCL_VERSION");
  return given == CommConfig::kUndefined ? built_nccl_version() : given;
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

/// Defines a function by what it does where no fault strikes; it may take care of `fault`.
#define NCCL_CALL(name, parameters, ...)                                                          \
  ncclResult_t name parameters {                                                                  \
    return call_nccl(#name, [&]([[maybe_unused]] FaultKind & fault) -> ncclResult_t __VA_ARGS__); \
  }
/// The same for the communicator `comm` of the parameter `handle`.
#define COMM_CALL(name, parameters, ...)                                                           \
  NCCL_CALL(name, parameters, {                                                                    \
    return with_comm(                                                                              \
        #name, handle, [&]([[maybe_unused]] const CommPointer& comm) -> ncclResult_t __VA_ARGS__); \
  })
/// A function that moves data; all have a count, a type, a communicator and a stream.
#define MOVE_CALL(name, what, buffers, options, source, target, reduction, root_or_peer)         \
  ncclResult_t name(buffers size_t count, ncclDataType_t type, options ncclComm_t comm,          \
                    cudaStream_t stream) {                                                       \
    return communicate(                                                                          \
        {#name, Collective::what, source, target, count, type, reduction, root_or_peer, stream}, \
        comm);                                                                                   \
  }
/// The same with a configuration of its own, as from 2.31 on.
#define CONFIGURED_CALL(name, what, options, reduction, root)                                      \
  ncclResult_t name(const void* from, void* to, size_t count, ncclDataType_t type,                 \
                    options ncclComm_t comm, cudaStream_t stream, const CallConfig* config) {      \
    if (const auto status = read_call_config(config, #name); status != ncclSuccess) return status; \
    return communicate({#name, Collective::what, from, to, count, type, reduction, root, stream},  \
                       comm);                                                                      \
  }
#define FROM const void *from,
#define TO void *to,
#define OP ncclRedOp_t op,
#define ROOT int root,

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

ncclResult_t ncclGetVersion(int* version) {
  return call_without_device("ncclGetVersion", [&](FaultKind&) {
    if (version == nullptr) return invalid("GetVersion : argument is NULL");
    *version = nccl_version();
    return ncclSuccess;
  });
}

NCCL_CALL(ncclGetUniqueId, (ncclUniqueId * id), {
  if (id == nullptr) return invalid("GetUniqueId : argument is NULL");
  sweep_segments();
  std::random_device random;
  *id = {};
  const std::string name = segment_prefix() + std::to_string(::getpid()) + "-" +
                           std::to_string(random()) + std::to_string(random());
  std::memcpy(id->internal, name.data(), name.size());
  return ncclSuccess;
})
NCCL_CALL(ncclCommInitRankConfig,
          (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config),
          { return init_rank(comm, ranks, id, rank, config, fault); })

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  if (handle == nullptr) return ncclSuccess;
  hang_if_lost();
  return call_nccl("ncclCommDestroy", [handle](FaultKind&) {
    return with_comm("ncclCommDestroy", handle, [handle](const CommPointer& comm) {
      const ncclResult_t flushed = comm->flush();
      forget_comm(handle);
      return flushed;
    });
  });
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  if (handle == nullptr) return ncclSuccess;
  const CommPointer given = find_comm(handle);
  if (given != nullptr) given->ask_to_end();
  hang_if_lost();
  if (given != nullptr) static_cast<void>(given->flush());  // though the device be gone
  return call_nccl("ncclCommAbort", [handle](FaultKind&) {
    return with_comm("ncclCommAbort", handle, [handle](const CommPointer&) {
      forget_comm(handle);
      return ncclSuccess;
    });
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* error) {
  return call_without_device("ncclCommGetAsyncError", [&](FaultKind&) {
    return with_comm("ncclCommGetAsyncError", handle, [&](const CommPointer& comm) {
      if (error == nullptr) return invalid("CommGetAsyncError : argument is NULL");
      *error = comm->state();
      return ncclSuccess;
    });
  });
}

NCCL_CALL(ncclMemAlloc, (void** pointer, size_t bytes), {
  if (pointer == nullptr || bytes == 0) return invalid("ncclMemAlloc : bad argument");
  if (use_device() == cudaSuccess &&
      memory().allocate(this_thread().device, bytes, pointer, MemoryKind::Virtual)) {
    return ncclSuccess;
  }
  return refuse(ncclUnhandledCudaError, "Cuda failure 'out of memory'");
})

ncclResult_t ncclMemFree(void* pointer) {
  hang_if_lost();
  return call_nccl("ncclMemFree", [&](FaultKind&) {
    if (pointer == nullptr) return ncclSuccess;
    if (!memory().is_start(pointer)) return invalid("ncclMemFree : not allocated");
    if (await_device(memory().device_of(pointer)) != cudaSuccess) return ncclUnhandledCudaError;
    return memory().release(pointer) ? ncclSuccess : ncclInvalidArgument;
  });
}

COMM_CALL(ncclCommRegister, (const ncclComm_t handle, void* start, size_t bytes, void** registered),
          {
            if (registered == nullptr) return invalid("register : argument is NULL");
            return register_locally(comm, start, bytes, registered);
          })
COMM_CALL(ncclCommDeregister, (const ncclComm_t handle, void* registered),
          { return deregister_locally(comm, registered); })
COMM_CALL(ncclCommWindowRegister,
          (ncclComm_t handle, void* start, size_t bytes, ncclWindow_t* window, int),
          { return register_window(comm, start, bytes, window); })
COMM_CALL(ncclCommWindowDeregister, (ncclComm_t handle, ncclWindow_t window),
          { return deregister_window(comm, window); })

MOVE_CALL(ncclAllReduce, AllReduce, FROM TO, OP, from, to, op, 0)
MOVE_CALL(ncclReduce, Reduce, FROM TO, OP ROOT, from, to, op, root)
MOVE_CALL(ncclBroadcast, Broadcast, FROM TO, ROOT, from, to, ncclSum, root)
MOVE_CALL(ncclReduceScatter, ReduceScatter, FROM TO, OP, from, to, op, 0)
MOVE_CALL(ncclAllGather, AllGather, FROM TO, , from, to, ncclSum, 0)
MOVE_CALL(ncclAlltoAll, AlltoAll, FROM TO, , from, to, ncclSum, 0)
MOVE_CALL(ncclGather, Gather, FROM TO, ROOT, from, to, ncclSum, root)
MOVE_CALL(ncclScatter, Scatter, FROM TO, ROOT, from, to, ncclSum, root)
MOVE_CALL(ncclSend, Send, FROM, ROOT, from, nullptr, ncclSum, root)
MOVE_CALL(ncclRecv, Recv, TO, ROOT, nullptr, to, ncclSum, root)

CONFIGURED_CALL(ncclAllReduceConfig, AllReduce, OP, op, 0)
CONFIGURED_CALL(ncclReduceConfig, Reduce, OP ROOT, op, root)
CONFIGURED_CALL(ncclBroadcastConfig, Broadcast, ROOT, ncclSum, root)
CONFIGURED_CALL(ncclReduceScatterConfig, ReduceScatter, OP, op, 0)
CONFIGURED_CALL(ncclAllGatherConfig, AllGather, , ncclSum, 0)
CONFIGURED_CALL(ncclAlltoAllConfig, AlltoAll, , ncclSum, 0)
CONFIGURED_CALL(ncclGatherConfig, Gather, ROOT, ncclSum, root)
CONFIGURED_CALL(ncclScatterConfig, Scatter, ROOT, ncclSum, root)

ncclResult_t ncclGroupStart() {
  return call_without_device("ncclGroupStart",
                             [](FaultKind&) { return begin_group(), ncclSuccess; });
}

NCCL_CALL(ncclGroupEnd, (), { return end_group(); })

}  // extern "C"
