// SPDX-License-Identifier: BSD-3-Clause
// Threads of groups, and registered buffers.
#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

ncclResult_t sum(const Job& job, const DeviceBytes& room) {
  return job.all_reduce(room.at(), room.at(), 1, ncclInt32, ncclSum);
}

/// While a group's thread runs, the communicator takes no call.
SELFTEST_ON_RANKS(group_thread, false) {
  const DeviceBytes room(4);
  expect(ncclInProgress, sum(job, room));
  expect(ncclInvalidArgument, sum(job, room));  // a machine with connect=1
  ok(await_state(job.comm));
  job.finish();
}

constexpr std::size_t kBytes = 64;

void* allocate() {
  void* memory = nullptr;
  ok(ncclMemAlloc(&memory, 4096));
  return memory;
}

ncclResult_t open_window(const Job& job, void* memory, ncclWindow_t* window) {
  return ncclCommWindowRegister(job.comm, memory, 4096, window, NCCL_WIN_COLL_SYMMETRIC);
}

/// All ranks have to come; until then the call has only begun, and says success.
SELFTEST_ON_RANKS(window, false) {
  void* memory = allocate();
  ncclWindow_t handle = nullptr;
  ncclWindow_t second = nullptr;
  const bool last = job.rank == job.ranks - 1;
  if (last) meet_all();
  ok(open_window(job, memory, &handle));
  if (!last) {
    require(handle == nullptr, "no handle yet");
    expect(ncclInvalidArgument, open_window(job, memory, &second));
    meet_all();
  }
  ok(await_state(job.comm));
  require(handle != nullptr, "a handle");
  ok(ncclCommWindowDeregister(job.comm, handle));
  ok(ncclMemFree(memory));
}

/// Memory of cudaMalloc cannot be shared.
SELFTEST_ON_RANKS(plain_window, true) {
  const DeviceBytes room(4096);
  ncclWindow_t handle = nullptr;
  expect(ncclUnhandledCudaError, open_window(job, room.at(), &handle));
  require(handle == nullptr, "no handle");
}

/// Buffers of an all-reduce, at the addresses that the last ones had.
struct Buffers {
  DeviceBytes from{Bytes(kBytes, 1)};
  DeviceBytes to{Bytes(kBytes, 0)};

  void reduce(const Job& job) const {
    ok(job.all_reduce(from.at(), to.at(), kBytes, ncclUint8, ncclSum));
  }
  [[nodiscard]] bool is_sum(const Job& job) const {
    return to.read() == Bytes(kBytes, static_cast<unsigned char>(job.ranks));
  }
};

/// Captures an all-reduce, launches it and forgets the graph.
bool is_right_by_graph(const Job& job, const Buffers& buffers) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
  buffers.reduce(job);
  ok(cudaStreamEndCapture(job.stream, &graph));
  ok(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  ok(cudaGraphDestroy(graph));
  ok(cudaGraphLaunch(executable, job.stream));
  job.finish();
  ok(cudaGraphExecDestroy(executable));
  return buffers.is_sum(job);
}

/// A graph's registration outlives the graph and its buffers, until the eleventh group.
SELFTEST_ON_RANKS(stale_graph, true) {
  const unsigned char* address = nullptr;
  {
    const Buffers buffers;
    address = buffers.to.at();
    require(is_right_by_graph(job, buffers), "the first graph");
    require(is_right_by_graph(job, buffers), "another graph of the same buffers");
  }
  {
    const Buffers buffers;
    require(buffers.to.at() == address, "the same address");
    require(!is_right_by_graph(job, buffers), "results go to the memory that was there");
    buffers.reduce(job);
    job.finish();
    require(buffers.is_sum(job), "without a graph all is well");
    for (int group = 0; group < 11; ++group) buffers.reduce(job);
    job.finish();
    require(is_right_by_graph(job, buffers), "after eleven groups the registration is new");
  }
}

/// A user's registration ends where a graph still uses the range, but the range stays.
SELFTEST_ON_RANKS(stale_user, true) {
  void* before = nullptr;
  void* after = nullptr;
  {
    const Buffers buffers;
    ok(ncclCommRegister(job.comm, buffers.to.at(), kBytes, &before));
    require(is_right_by_graph(job, buffers), "a graph");
    ok(ncclCommDeregister(job.comm, before));
  }
  const Buffers buffers;
  ok(ncclCommRegister(job.comm, buffers.to.at(), kBytes, &after));
  require(before == after, "the same range");
  buffers.reduce(job);
  job.finish();
  require(!buffers.is_sum(job), "results go to the memory that was there");
}

}  // namespace
}  // namespace selftest
