// SPDX-License-Identifier: BSD-3-Clause
// Communicators: how they are made, what they refuse, and what a killed rank leaves.
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
