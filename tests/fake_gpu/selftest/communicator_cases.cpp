// SPDX-License-Identifier: BSD-3-Clause
// Communicators: how they are made, what they refuse, groups, graphs, speed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

int read_int(const DeviceBytes& bytes) {
  int value = 0;
  const auto contents = bytes.read();
  std::memcpy(&value, contents.data(), sizeof value);
  return value;
}

std::vector<unsigned char> as_bytes(int value) {
  std::vector<unsigned char> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

void require_sum(const Job& job, ncclComm_t comm, int wanted) {
  const DeviceBytes one(as_bytes(job.rank));
  expect(ncclSuccess, ncclAllReduce(one.at(), one.at(), 1, ncclInt32, ncclSum, comm, job.stream));
  job.finish();
  require(read_int(one) == wanted, "a sum of ranks");
}

/// The last rank comes late: until then nobody is ready, and no call waits.
void non_blocking() {
  Job job = join();
  const ncclUniqueId id = share_id();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (job.rank == job.ranks - 1) {
    meet_all();
    ::usleep(100'000);
  }
  expect(ncclInProgress, ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config));
  ncclResult_t state = ncclSuccess;
  if (job.rank != job.ranks - 1) {
    expect(ncclSuccess, ncclCommGetAsyncError(job.comm, &state));
    expect(ncclInProgress, state);
    const DeviceBytes one(4);
    expect(ncclInvalidArgument,
           ncclAllReduce(one.at(), one.at(), 1, ncclInt32, ncclSum, job.comm, job.stream));
    meet_all();
  }
  expect(ncclSuccess, await_state(job.comm));
  const DeviceBytes one(as_bytes(job.rank));
  expect(ncclInProgress,
         ncclAllReduce(one.at(), one.at(), 1, ncclInt32, ncclSum, job.comm, job.stream));
  expect(ncclSuccess, await_state(job.comm));
  job.finish();
  require(read_int(one) == job.ranks * (job.ranks - 1) / 2, "a sum of ranks");
  expect(ncclInProgress, ncclCommFinalize(job.comm));
  expect(ncclSuccess, await_state(job.comm));
  leave(job);
}

/// Prints what NCCL says to ranks on one GPU: with their host names apart, nothing.
void one_gpu() {
  Job job = join(true);
  const char* apart = std::getenv("SELFTEST_HOSTS_APART");
  if (apart != nullptr) ::setenv("NCCL_HOSTID", std::to_string(job.rank).c_str(), 1);
  const ncclResult_t result = ncclCommInitRank(&job.comm, job.ranks, share_id(), job.rank);
  if (result == ncclSuccess) {
    require_sum(job, job.comm, job.ranks * (job.ranks - 1) / 2);
    std::printf("rank %d: shares\n", job.rank);
  } else {
    require(job.comm == nullptr, "no communicator");
    std::printf("rank %d: %d %s\n", job.rank, result, ncclGetLastError(nullptr));
  }
  meet_all();
  leave(job);
}

/// What other processes took is seen, and not to be had.
void shared_memory() {
  Job job = join(true);
  constexpr std::size_t kMiB = 1 << 20;
  const DeviceBytes part(100 * kMiB);
  meet_all();
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  expect(cudaSuccess, cudaMemGetInfo(&free_bytes, &total));
  require(free_bytes == total - static_cast<std::size_t>(job.ranks) * 164 * kMiB,
          "free is what all ranks left: " + std::to_string(free_bytes / kMiB));
  void* more = nullptr;
  expect(cudaErrorMemoryAllocation, cudaMalloc(&more, free_bytes + 1));
  meet_all();
  leave(job);
}

void split(Job& job) {
  const int color = job.rank % 2;
  ncclComm_t half = nullptr;
  for (int round = 0; round < 2; ++round) {
    expect(ncclSuccess, ncclCommSplit(job.comm, color, -job.rank, &half, nullptr));
    int rank = -1;
    int ranks = -1;
    expect(ncclSuccess, ncclCommUserRank(half, &rank));
    expect(ncclSuccess, ncclCommCount(half, &ranks));
    require(ranks == (job.ranks + 1 - color) / 2, "how many in my half");
    require(rank == ranks - 1 - job.rank / 2, "keys turn the order round");
    int wanted = 0;
    for (int other = color; other < job.ranks; other += 2) wanted += other;
    require_sum(job, half, wanted);
    expect(ncclSuccess, ncclCommDestroy(half));
  }
  const int chosen = job.rank == 0 ? 7 : NCCL_SPLIT_NOCOLOR;
  expect(ncclSuccess, ncclCommSplit(job.comm, chosen, 0, &half, nullptr));
  require((half != nullptr) == (job.rank == 0), "no color, no communicator");
  if (half != nullptr) expect(ncclSuccess, ncclCommDestroy(half));
}

void refusals(Job& job) {
  const DeviceBytes room(64);
  std::vector<int> host(16);
  unsigned char* at = room.at();
  const auto reduce = [&](const void* from, void* to, std::size_t count, int type, int op) {
    return ncclAllReduce(from, to, count, static_cast<ncclDataType_t>(type),
                         static_cast<ncclRedOp_t>(op), job.comm, job.stream);
  };
  expect(ncclInvalidArgument, reduce(at, at, 17, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, reduce(host.data(), at, 4, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, reduce(nullptr, at, 4, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, reduce(at, at + 4, 4, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, reduce(at, at, 4, ncclNumTypes, ncclSum));
  expect(ncclInvalidArgument, reduce(at, at, 4, ncclInt32, ncclNumOps));
  expect(ncclInvalidArgument, ncclBroadcast(at, at, 4, ncclInt32, job.ranks, job.comm, job.stream));
  expect(ncclInvalidArgument, ncclSend(at, 4, ncclInt32, -1, job.comm, job.stream));
  expect(ncclInvalidArgument, ncclAllGather(at, at + 1, 1, ncclInt32, job.comm, job.stream));
  expect(ncclInvalidUsage, ncclGroupEnd());
  expect(ncclSuccess, ncclGroupStart());
  expect(ncclInvalidArgument, reduce(at, at, 17, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, ncclGroupEnd());
  expect(ncclSuccess, reduce(at, at, 0, ncclInt32, ncclSum));
  void* handle = nullptr;
  expect(ncclInvalidArgument, ncclCommRegister(job.comm, at, 65, &handle));
  expect(ncclSuccess, ncclCommRegister(job.comm, at, 64, &handle));
  expect(ncclSuccess, ncclCommDeregister(job.comm, handle));
  expect(ncclInvalidUsage, ncclCommDeregister(job.comm, handle));
  job.finish();
}

/// fp8 may be sent everywhere, and reduced from compute capability 9.0 on.
void old_gpu(Job& job) {
  const DeviceBytes room(64);
  expect(ncclInvalidArgument,
         ncclAllReduce(room.at(), room.at(), 4, ncclFloat8e4m3, ncclSum, job.comm, job.stream));
  expect(ncclSuccess, ncclBcast(room.at(), 4, ncclFloat8e4m3, 0, job.comm, job.stream));
  job.finish();
}

/// Counts that differ are told, and the work ends when the communicator is aborted.
void mismatch(Job& job) {
  const DeviceBytes room(64);
  const std::size_t count = job.rank == 0 ? 3 : 4;
  expect(ncclSuccess,
         ncclAllReduce(room.at(), room.at(), count, ncclInt32, ncclSum, job.comm, job.stream));
  ncclResult_t state = ncclSuccess;
  while (state == ncclSuccess) expect(ncclSuccess, ncclCommGetAsyncError(job.comm, &state));
  expect(ncclInvalidUsage, state);
  require(std::strstr(ncclGetLastError(job.comm), "do not match") != nullptr, "the error's text");
  expect(cudaErrorNotReady, cudaStreamQuery(job.stream));
  meet_all();
  expect(ncclSuccess, ncclCommAbort(job.comm));
  job.comm = nullptr;
  job.finish();
}

void graph(Job& job) {
  const DeviceBytes one(as_bytes(1));
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t executable = nullptr;
  expect(cudaSuccess, cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 2; ++i) {
    expect(ncclSuccess,
           ncclAllReduce(one.at(), one.at(), 1, ncclInt32, ncclSum, job.comm, job.stream));
  }
  expect(cudaSuccess, cudaStreamEndCapture(job.stream, &captured));
  expect(cudaSuccess, cudaGraphInstantiateWithFlags(&executable, captured, 0));
  require(read_int(one) == 1, "nothing happens while it is captured");
  for (int i = 0; i < 2; ++i) expect(cudaSuccess, cudaGraphLaunch(executable, job.stream));
  job.finish();
  require(read_int(one) == job.ranks * job.ranks * job.ranks * job.ranks, "four sums");
}

/// Prints the ms of a 1 MiB all-reduce.
void speed(Job& job) {
  constexpr std::size_t kCount = 1 << 18;
  constexpr int kRounds = 10;
  const DeviceBytes room(kCount * 4);
  timespec begin{};
  timespec end{};
  meet_all();
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < kRounds; ++i) {
    expect(ncclSuccess,
           ncclAllReduce(room.at(), room.at(), kCount, ncclFloat32, ncclMax, job.comm, job.stream));
  }
  job.finish();
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  const double ms = static_cast<double>(end.tv_sec - begin.tv_sec) * 1e3 +
                    static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-6;
  if (job.rank == 0) std::printf("%.1f\n", ms / kRounds);
}

}  // namespace

const std::vector<Case>& communicator_cases() {
  static const std::vector<Case> kCases = {
      {"non_blocking", non_blocking},   {"one_gpu", one_gpu},
      {"shared_memory", shared_memory}, {"split", on_ranks<split>},
      {"refusals", on_ranks<refusals>}, {"old_gpu", on_ranks<old_gpu>},
      {"mismatch", on_ranks<mismatch>}, {"graph", on_ranks<graph>},
      {"speed", on_ranks<speed>}};
  return kCases;
}

}  // namespace selftest
