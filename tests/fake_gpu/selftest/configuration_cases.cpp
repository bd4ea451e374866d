// SPDX-License-Identifier: BSD-3-Clause
// Versions and configurations of NCCL, threads of groups, what a first operation costs, and
// registered buffers.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

ncclResult_t sum(const Job& job, const DeviceBytes& room) {
  return job.all_reduce(room.at(), room.at(), 1, ncclInt32, ncclSum);
}

/// The layout of NCCL 2.30, whatever the header's.
struct NewestConfig {
  ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
  int graph_usage_mode = NCCL_CONFIG_UNDEF_INT;
  int rma_contexts = NCCL_CONFIG_UNDEF_INT;
  int max_p2p_peers = 2;
  int graph_stream_ordering = NCCL_CONFIG_UNDEF_INT;
};

/// Connects as the environment asks and prints the result; FAKE_NCCL_TRACE has what was understood.
SELFTEST(configured) {
  Job job = join();
  NewestConfig config;
  config.known.size = sizeof config;
  config.known.version = 23007;
  config.known.blocking = std::getenv("SELFTEST_BLOCKING") == nullptr ? 0 : 1;
  config.known.nvlinkCentricSched = 1;
  const char* policy = std::getenv("SELFTEST_POLICY");
  if (policy != nullptr) config.known.CTAPolicy = std::atoi(policy);
  ncclResult_t result =
      ncclCommInitRankConfig(&job.comm, job.ranks, share_id(), job.rank, &config.known);
  if (result == ncclInProgress) result = await_state(job.comm);
  const DeviceBytes room(4);
  if (result == ncclSuccess) {
    const ncclResult_t begun = sum(job, room);
    require(begun == ncclSuccess || begun == ncclInProgress, "a sum");
    ok(await_state(job.comm));
    job.finish();
  }
  if (job.rank == 0) std::printf("%d\n", result);
  leave(job);
}

/// While a group's thread runs, the communicator takes no call.
SELFTEST_ON_RANKS(group_thread, false) {
  const DeviceBytes room(4);
  expect(ncclInProgress, sum(job, room));
  expect(ncclInvalidArgument, sum(job, room));  // a machine with connect=1
  ok(await_state(job.comm));
  job.finish();
}

/// Two groups of one kind; what threads they have is in FAKE_NCCL_TRACE.
SELFTEST_ON_RANKS(two_groups, false) {
  const DeviceBytes room(4);
  expect(ncclInProgress, sum(job, room));
  ok(await_state(job.comm));
  ok(sum(job, room));
  job.finish();
}

double seconds_of(const Job& job, const DeviceBytes& room) {
  const auto begin = std::chrono::steady_clock::now();
  ok(sum(job, room));
  job.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The first operation of a kind takes two seconds or more on rank 0, whose fault it is, and the
/// next does not. (Other ranks' clocks may start while rank 0 is at it.)
SELFTEST_ON_RANKS(first_is_slow, true) {
  const DeviceBytes room(4);
  const double first = seconds_of(job, room);
  require(job.rank > 0 || first >= 2, "the first operation: " + std::to_string(first) + " s");
  const double second = seconds_of(job, room);
  require(job.rank > 0 || second < first, "the second operation is faster");
}

/// Prints what an operation and cudaMemGetInfo say where NCCL's own memory does not fit.
SELFTEST_ON_RANKS(late_memory, true) {
  const DeviceBytes room(4);
  const ncclResult_t result = sum(job, room);
  std::printf("%d %s\n", result, ncclGetLastError(job.comm));
}

/// NCCL's kernel for one rank has no fp8; nothing else is the worse for it.
SELFTEST_ON_RANKS(one_rank_fp8, true) {
  const DeviceBytes room(64);
  const auto reduce = [&](ncclDataType_t type, ncclRedOp_t op) {
    return job.all_reduce(room.at(), room.at(), 4, type, op);
  };
  expect(ncclInvalidArgument, reduce(ncclFloat8e4m3, ncclAvg));
  ok(reduce(ncclFloat8e4m3, ncclSum));
  ok(reduce(ncclFloat16, ncclAvg));
  job.finish();
}

/// Beside NCCL 2.14: what came later is missing, and a field that nobody has set is refused.
SELFTEST(old_nccl) {
  Job job = join();
  int version = 0;
  ok(ncclGetVersion(&version));
  require(version == 21403, "version " + std::to_string(version));
  for (const char* later : {"ncclMemAlloc", "ncclCommRegister", "ncclAlltoAll",
                            "ncclCommWindowRegister", "ncclGather", "ncclScatter"}) {
    require(::dlsym(RTLD_DEFAULT, later) == nullptr, later);
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const ncclUniqueId id = share_id();
  expect(ncclInvalidArgument, ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config));
  config.blocking = 1;
  config.CTAPolicy = 9;
  ok(ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config));
  const DeviceBytes room(4);
  ok(sum(job, room));
  expect(ncclInvalidArgument,
         ncclBroadcast(room.at(), room.at(), 4, ncclFloat8e4m3, 0, job.comm, job.stream));
  job.finish();
  leave(job);
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

/// Prints which of a window and a local registration have a handle.
SELFTEST_ON_RANKS(handles, true) {
  void* memory = allocate();
  ncclWindow_t made = nullptr;
  void* local = nullptr;
  ok(open_window(job, memory, &made));
  ok(ncclCommRegister(job.comm, memory, 4096, &local));
  if (job.rank == 0) {
    std::printf("window %s, local %s\n", made == nullptr ? "null" : "handle",
                local == nullptr ? "null" : "handle");
  }
  ok(ncclCommWindowDeregister(job.comm, made));
  ok(ncclCommDeregister(job.comm, local));
  ok(ncclMemFree(memory));
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
