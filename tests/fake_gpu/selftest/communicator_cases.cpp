// SPDX-License-Identifier: BSD-3-Clause
// Communicators: which ranks share a GPU, and what is refused.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

void require_sum(const Job& job) {
  const DeviceBytes one(as_bytes(job.rank));
  ok(job.all_reduce(one.at(), one.at(), 1, ncclInt32, ncclSum));
  job.finish();
  require(read_int(one) == job.ranks * (job.ranks - 1) / 2, "a sum of ranks");
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

}  // namespace
}  // namespace selftest
