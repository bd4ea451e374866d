// SPDX-License-Identifier: BSD-3-Clause
// Communicators: how they are made, what they refuse, groups, graphs, speed; and what calls
// return under FAKE_GPU_FAULT.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
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

Bytes as_bytes(int value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Sums the ranks; `begun` is what the call returns.
void require_sum(const Job& job, ncclResult_t begun = ncclSuccess) {
  const DeviceBytes one(as_bytes(job.rank));
  expect(begun, job.all_reduce(one.at(), one.at(), 1, ncclInt32, ncclSum));
  ok(await_state(job.comm));
  job.finish();
  require(read_int(one) == job.ranks * (job.ranks - 1) / 2, "a sum of ranks");
}

/// The last rank comes late: until then nobody is ready, and no call waits.
SELFTEST(non_blocking) {
  Job job = join();
  const ncclUniqueId id = share_id();
  if (job.rank == job.ranks - 1) {
    meet_all();
    ::usleep(100'000);
  }
  expect(ncclInProgress, start(job, id, false));
  ncclResult_t state = ncclSuccess;
  if (job.rank != job.ranks - 1) {
    ok(ncclCommGetAsyncError(job.comm, &state));
    expect(ncclInProgress, state);
    const DeviceBytes one(4);
    expect(ncclInvalidArgument, job.all_reduce(one.at(), one.at(), 1, ncclInt32, ncclSum));
    meet_all();
  }
  ok(await_state(job.comm));
  require_sum(job, ncclInProgress);
  leave(job);
}

/// Prints what NCCL says to ranks on one GPU: with their host names apart, nothing.
SELFTEST(one_gpu) {
  Job job = join(true);
  const char* apart = std::getenv("SELFTEST_HOSTS_APART");
  if (apart != nullptr) ::setenv("NCCL_HOSTID", std::to_string(job.rank).c_str(), 1);
  const ncclResult_t result = start(job, share_id(), true);
  if (result == ncclSuccess) {
    require_sum(job);
    std::printf("rank %d: shares\n", job.rank);
  } else {
    job.comm = nullptr;  // NCCL may leave one that is of no use
    std::printf("rank %d: %d %s\n", job.rank, result, ncclGetLastError(nullptr));
  }
  meet_all();
  leave(job);
}

/// What other processes took is seen, and not to be had.
SELFTEST(shared_memory) {
  Job job = join(true);
  constexpr std::size_t kMiB = 1 << 20;
  const DeviceBytes part(100 * kMiB);
  meet_all();
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  ok(cudaMemGetInfo(&free_bytes, &total));
  require(free_bytes == total - static_cast<std::size_t>(job.ranks) * 164 * kMiB,
          "free is what all ranks left: " + std::to_string(free_bytes / kMiB));
  void* more = nullptr;
  expect(cudaErrorMemoryAllocation, cudaMalloc(&more, free_bytes + 1));
  meet_all();
  leave(job);
}

SELFTEST_ON_RANKS(refusals, true) {
  const DeviceBytes room(64);
  std::vector<int> host(16);
  unsigned char* at = room.at();
  const auto reduce = [&](const void* from, void* to, std::size_t count, int type, int op) {
    return job.all_reduce(from, to, count, static_cast<ncclDataType_t>(type),
                          static_cast<ncclRedOp_t>(op));
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
  ok(ncclGroupStart());
  expect(ncclInvalidArgument, reduce(at, at, 17, ncclInt32, ncclSum));
  expect(ncclInvalidArgument, ncclGroupEnd());
  ok(reduce(at, at, 0, ncclInt32, ncclSum));
  void* handle = nullptr;
  expect(ncclInvalidArgument, ncclCommRegister(job.comm, at, 65, &handle));
  ok(ncclCommRegister(job.comm, at, 64, &handle));
  ok(ncclCommDeregister(job.comm, handle));
  expect(ncclInvalidUsage, ncclCommDeregister(job.comm, handle));
  job.finish();
}

/// fp8 may be sent everywhere, and reduced from compute capability 9.0 on.
SELFTEST_ON_RANKS(old_gpu, true) {
  const DeviceBytes room(64);
  expect(ncclInvalidArgument, job.all_reduce(room.at(), room.at(), 4, ncclFloat8e4m3, ncclSum));
  ok(ncclBroadcast(room.at(), room.at(), 4, ncclFloat8e4m3, 0, job.comm, job.stream));
  job.finish();
}

/// Counts that differ are told, and the work ends when the communicator is aborted.
SELFTEST_ON_RANKS(mismatch, true) {
  const DeviceBytes room(64);
  const std::size_t count = job.rank == 0 ? 3 : 4;
  ok(job.all_reduce(room.at(), room.at(), count, ncclInt32, ncclSum));
  ncclResult_t state = ncclSuccess;
  while (state == ncclSuccess) ok(ncclCommGetAsyncError(job.comm, &state));
  expect(ncclInvalidUsage, state);
  require(std::strstr(ncclGetLastError(job.comm), "do not match") != nullptr, "the error's text");
  expect(cudaErrorNotReady, cudaStreamQuery(job.stream));
  meet_all();
  ok(ncclCommAbort(job.comm));
  job.comm = nullptr;
  job.finish();
}

SELFTEST_ON_RANKS(graph, true) {
  const DeviceBytes one(as_bytes(1));
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t executable = nullptr;
  ok(cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 2; ++i) ok(job.all_reduce(one.at(), one.at(), 1, ncclInt32, ncclSum));
  ok(cudaStreamEndCapture(job.stream, &captured));
  ok(cudaGraphInstantiateWithFlags(&executable, captured, 0));
  require(read_int(one) == 1, "nothing happens while it is captured");
  for (int i = 0; i < 2; ++i) ok(cudaGraphLaunch(executable, job.stream));
  job.finish();
  require(read_int(one) == job.ranks * job.ranks * job.ranks * job.ranks, "four sums");
}

/// Prints the ms of a 1 MiB all-reduce.
SELFTEST_ON_RANKS(speed, true) {
  constexpr std::size_t kCount = 1 << 18;
  constexpr int kRounds = 10;
  const DeviceBytes room(kCount * 4);
  meet_all();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i)
    ok(job.all_reduce(room.at(), room.at(), kCount, ncclFloat32, ncclMax));
  job.finish();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  if (job.rank == 0) std::printf("%.1f\n", taken.count() / kRounds);
}

/// One line for each all-reduce: what it returned, what the communicator says after 0.2 s at most,
/// whether the work is done, and the first byte.
SELFTEST_ON_RANKS(all_reduces, true) {
  const DeviceBytes room(Bytes(8, 2));
  for (int call = 1; call <= 3; ++call) {
    const ncclResult_t result = job.all_reduce(room.at(), room.at(), 8, ncclInt8, ncclMax);
    cudaError_t query = cudaStreamQuery(job.stream);
    for (int i = 0; i < 200 && query == cudaErrorNotReady; ++i) {
      ::usleep(1000);
      query = cudaStreamQuery(job.stream);
    }
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(job.comm, &state);
    const int byte = query == cudaSuccess ? room.read().front() : -1;
    std::printf("rank %d call %d: %d %d %d %s %d\n", job.rank, call, result, asked, state,
                cudaGetErrorName(query), byte);
    static_cast<void>(std::fflush(stdout));
  }
  static_cast<void>(ncclCommAbort(job.comm));
  const cudaError_t ended = cudaStreamSynchronize(job.stream);
  std::printf("rank %d end: %s\n", job.rank, cudaGetErrorName(ended));
  meet_all();
  job.comm = nullptr;
  if (ended == cudaSuccess) ok(cudaStreamDestroy(job.stream));
  job.stream = nullptr;
}

/// What three allocations return.
SELFTEST(allocations) {
  for (int call = 1; call <= 3; ++call) {
    void* pointer = nullptr;
    const cudaError_t result = cudaMalloc(&pointer, 1000);
    std::printf("cudaMalloc %d: %s\n", call, cudaGetErrorName(result));
  }
  void* pointer = nullptr;
  std::printf("ncclMemAlloc: %d\n", ncclMemAlloc(&pointer, 1000));
}

/// Starts a communicator without waiting, gives up after 0.3 s and tells its state.
SELFTEST(starts) {
  Job job = join();
  const ncclResult_t result = start(job, share_id(), false);
  ncclResult_t state = result;
  for (int i = 0; i < 300 && job.comm != nullptr && state == ncclInProgress; ++i) {
    ::usleep(1000);
    ok(ncclCommGetAsyncError(job.comm, &state));
  }
  std::printf("rank %d: %d %d\n", job.rank, result, state);
  meet_all();
  if (job.comm != nullptr) ok(ncclCommAbort(job.comm));
  job.comm = nullptr;
  leave(job);
}

/// The unique id by a file: mpirun would end all ranks with the one that is killed.
ncclUniqueId share_id_by_file(int rank, const std::string& path) {
  ncclUniqueId id{};
  if (rank == 0) {
    ok(ncclGetUniqueId(&id));
    std::ofstream(path + ".new").write(id.internal, sizeof id.internal);
    require(std::rename((path + ".new").c_str(), path.c_str()) == 0, "rename");
    return id;
  }
  for (;;) {
    std::ifstream file(path);
    if (file.read(id.internal, sizeof id.internal)) return id;
    ::usleep(1000);
  }
}

/// `SELFTEST_RANK` of three: rank 0 is killed in the middle of the work, the others end by abort.
SELFTEST(killed) {
  Job job{.ranks = 3};
  job.rank = std::atoi(std::getenv("SELFTEST_RANK"));
  const ncclUniqueId id = share_id_by_file(job.rank, std::getenv("SELFTEST_ID"));
  ok(cudaSetDevice(job.rank));
  job.stream = make_stream();
  ok(start(job, id, true));
  const DeviceBytes room(Bytes(8, 2));
  const auto reduce = [&] { ok(job.all_reduce(room.at(), room.at(), 8, ncclInt8, ncclMax)); };
  reduce();
  job.finish();
  if (job.rank == 0) ::kill(::getpid(), SIGKILL);
  reduce();
  ::usleep(100'000);
  expect(cudaErrorNotReady, cudaStreamQuery(job.stream));
  ok(ncclCommAbort(job.comm));
  job.finish();
}

}  // namespace
}  // namespace selftest
