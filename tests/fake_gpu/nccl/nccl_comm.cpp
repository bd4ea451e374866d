// SPDX-License-Identifier: BSD-3-Clause
// Communicators: made, asked, split, ended.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <unistd.h>
#include <utility>

#include <nccl.h>

#include "tests/fake_gpu/nccl/call.hpp"
#include "tests/fake_gpu/nccl/config.hpp"

namespace fake_gpu {
namespace {

/// Starts a communicator that `*handle` then names; a group's end waits for those of the group.
ncclResult_t start(ncclComm_t* handle, const CommPointer& comm, FaultKind& fault) {
  *handle = keep_comm(comm);
  const FaultKind struck = std::exchange(fault, FaultKind::None);
  if (struck == FaultKind::Async) {
    comm->fail(ncclRemoteError, "FAKE_GPU_FAULT: async error in a communicator's start");
  }
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
  return " blocking=" + number(config.blocking ? 1 : 0) +
         " cta_policy=" + number(config.cta_policy) +
         " nvlink_centric_sched=" + number(config.nvlink_centric_sched) +
         " max_p2p_peers=" + number(config.max_p2p_peers);
}

ncclResult_t make(ncclComm_t* handle, const std::string& name, int ranks, int rank, int device,
                  const ncclConfig_t* given, FaultKind& fault) {
  CommConfig config;
  const ncclResult_t status = read_config(given, ranks, &config);
  if (status != ncclSuccess) return status;
  trace("comm rank=" + std::to_string(rank) + " ranks=" + std::to_string(ranks) + describe(config));
  return start(handle, std::make_shared<Communicator>(name, ranks, rank, device, config), fault);
}

ncclResult_t init_rank(ncclComm_t* handle, int ranks, const ncclUniqueId& id, int rank,
                       const ncclConfig_t* given, FaultKind& fault) {
  if (handle == nullptr) return refuse(ncclInvalidArgument, "CommInitRank : comm argument is NULL");
  *handle = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return refuse(ncclInvalidArgument,
                  "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
  }
  const std::string name(id.internal, ::strnlen(id.internal, NCCL_UNIQUE_ID_BYTES));
  if (name.rfind(segment_prefix(), 0) != 0 || name.find('/') != std::string::npos) {
    return refuse(ncclInvalidArgument, "this is no unique id of the fake NCCL");
  }
  if (use_device(this_thread().device) != cudaSuccess) {
    return refuse(ncclUnhandledCudaError, "Cuda failure: no device");
  }
  return make(handle, name, ranks, rank, this_thread().device, given, fault);
}

ncclResult_t split_comm(ncclComm_t parent, int color, int key, ncclComm_t* handle,
                        const ncclConfig_t* given, FaultKind& fault) {
  const CommPointer comm = find_comm(parent);
  if (comm == nullptr || comm->ensure_ready() != ncclSuccess || handle == nullptr ||
      color < NCCL_SPLIT_NOCOLOR) {
    return refuse(ncclInvalidArgument, "CommSplit : bad argument");
  }
  *handle = nullptr;
  std::string name;
  std::vector<int> members;
  if (!comm->split(color, key, &name, &members)) return refuse(ncclInternalError, "aborted");
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  const auto place = std::find(members.begin(), members.end(), comm->rank()) - members.begin();
  return make(handle, name, static_cast<int>(members.size()), static_cast<int>(place),
              comm->device(), given, fault);
}

template <class Act>
ncclResult_t with_comm(const char* function, ncclComm_t handle, const Act& act) {
  const CommPointer comm = find_comm(handle);
  if (comm == nullptr)
    return refuse(ncclInvalidArgument, std::string(function) + " : no such communicator");
  return act(comm);
}

/// A call that only reads what the host knows of a communicator.
template <class Act>
ncclResult_t ask_comm(const char* function, ncclComm_t handle, const Act& act) {
  return call_without_device(function,
                             [&](FaultKind&) { return with_comm(function, handle, act); });
}

}  // namespace

int nccl_version() {
  const char* given = std::getenv("FAKE_NCCL_VERSION");
  return given == nullptr ? built_nccl_version() : std::atoi(given);
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return call_without_device("ncclGetVersion", [&](FaultKind&) {
    if (version == nullptr) return refuse(ncclInvalidArgument, "GetVersion : argument is NULL");
    *version = nccl_version();
    return ncclSuccess;
  });
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return call_nccl("ncclGetUniqueId", [&](FaultKind&) {
    if (id == nullptr) return refuse(ncclInvalidArgument, "GetUniqueId : argument is NULL");
    sweep_segments();
    std::random_device random;
    *id = {};
    const std::string name = segment_prefix() + std::to_string(::getpid()) + "-" +
                             std::to_string(random()) + std::to_string(random());
    std::memcpy(id->internal, name.data(), name.size());
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return call_nccl("ncclCommInitRank", [&](FaultKind& fault) {
    return init_rank(comm, ranks, id, rank, nullptr, fault);
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return call_nccl("ncclCommInitRankConfig", [&](FaultKind& fault) {
    return init_rank(comm, ranks, id, rank, config, fault);
  });
}

ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t* comm,
                           ncclConfig_t* config) {
  return call_nccl("ncclCommSplit", [&](FaultKind& fault) {
    return split_comm(parent, color, key, comm, config, fault);
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  return call_nccl("ncclCommFinalize", [handle](FaultKind&) {
    return with_comm("ncclCommFinalize", handle, [](const CommPointer& comm) {
      const ncclResult_t ready = comm->ensure_ready();
      if (ready != ncclSuccess) return ready;
      comm->finalize();
      return comm->blocking() ? comm->await_ready() : ncclInProgress;
    });
  });
}

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
  return ask_comm("ncclCommGetAsyncError", handle, [error](const CommPointer& comm) {
    if (error == nullptr)
      return refuse(ncclInvalidArgument, "CommGetAsyncError : argument is NULL");
    *error = comm->state();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCount(const ncclComm_t handle, int* count) {
  return ask_comm("ncclCommCount", handle, [count](const CommPointer& comm) {
    *count = comm->ranks();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommUserRank(const ncclComm_t handle, int* rank) {
  return ask_comm("ncclCommUserRank", handle, [rank](const CommPointer& comm) {
    *rank = comm->rank();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t handle, int* device) {
  return ask_comm("ncclCommCuDevice", handle, [device](const CommPointer& comm) {
    *device = comm->device();
    return ncclSuccess;
  });
}

}  // extern "C"
