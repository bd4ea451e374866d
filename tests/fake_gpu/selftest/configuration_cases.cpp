// SPDX-License-Identifier: BSD-3-Clause
// Versions and configurations of NCCL, threads of groups, and what a first operation costs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

ncclResult_t sum(const Job& job, const DeviceBytes& room) {
  return ncclAllReduce(room.at(), room.at(), 1, ncclInt32, ncclSum, job.comm, job.stream);
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
void configured() {
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
    expect(ncclSuccess, await_state(job.comm));
    job.finish();
  }
  if (job.rank == 0) std::printf("%d\n", result);
  leave(job);
}

/// While a group's thread runs, the communicator takes no call.
void group_thread() {
  Job job = join();
  connect_without_blocking(job);
  const DeviceBytes room(4);
  expect(ncclInProgress, sum(job, room));
  expect(ncclInvalidArgument, sum(job, room));  // a machine with connect=1
  expect(ncclSuccess, await_state(job.comm));
  job.finish();
  leave(job);
}

/// Two groups of one kind; what threads they have is in FAKE_NCCL_TRACE.
void two_groups() {
  Job job = join();
  connect_without_blocking(job);
  const DeviceBytes room(4);
  expect(ncclInProgress, sum(job, room));
  expect(ncclSuccess, await_state(job.comm));
  expect(ncclSuccess, sum(job, room));
  job.finish();
  leave(job);
}

double seconds_of(const Job& job, const DeviceBytes& room) {
  const auto begin = std::chrono::steady_clock::now();
  expect(ncclSuccess, sum(job, room));
  job.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The first operation of a kind takes two seconds or more on rank 0, whose fault it is, and the
/// next does not. (Other ranks' clocks may start while rank 0 is at it.)
void first_is_slow() {
  Job job = join();
  connect(job);
  const DeviceBytes room(4);
  const double first = seconds_of(job, room);
  require(job.rank > 0 || first >= 2, "the first operation: " + std::to_string(first) + " s");
  const double second = seconds_of(job, room);
  require(job.rank > 0 || second < first, "the second operation is faster");
  leave(job);
}

/// Prints what an operation and cudaMemGetInfo say where NCCL's own memory does not fit.
void late_memory() {
  Job job = join();
  connect(job);
  const DeviceBytes room(4);
  const ncclResult_t result = sum(job, room);
  std::printf("%d %s\n", result, ncclGetLastError(job.comm));
  leave(job);
}

/// NCCL's kernel for one rank has no fp8; nothing else is the worse for it.
void one_rank_fp8() {
  Job job = join();
  connect(job);
  const DeviceBytes room(64);
  const auto reduce = [&](ncclDataType_t type, ncclRedOp_t op) {
    return ncclAllReduce(room.at(), room.at(), 4, type, op, job.comm, job.stream);
  };
  expect(ncclInvalidArgument, reduce(ncclFloat8e4m3, ncclAvg));
  expect(ncclSuccess, reduce(ncclFloat8e4m3, ncclSum));
  expect(ncclSuccess, reduce(ncclFloat16, ncclAvg));
  job.finish();
  leave(job);
}

/// Beside NCCL 2.14: what came later is missing, and a field that nobody has set is refused.
void old_nccl() {
  Job job = join();
  int version = 0;
  expect(ncclSuccess, ncclGetVersion(&version));
  require(version == 21403, "version " + std::to_string(version));
  for (const char* later : {"ncclMemAlloc", "ncclCommSplit", "ncclCommRegister", "ncclAlltoAll",
                            "ncclCommWindowRegister", "ncclGather", "ncclScatter"}) {
    require(::dlsym(RTLD_DEFAULT, later) == nullptr, later);
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const ncclUniqueId id = share_id();
  expect(ncclInvalidArgument, ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config));
  config.blocking = 1;
  config.CTAPolicy = 9;
  expect(ncclSuccess, ncclCommInitRankConfig(&job.comm, job.ranks, id, job.rank, &config));
  const DeviceBytes room(4);
  expect(ncclSuccess, sum(job, room));
  expect(ncclInvalidArgument, ncclBcast(room.at(), 4, ncclFloat8e4m3, 0, job.comm, job.stream));
  job.finish();
  leave(job);
}

}  // namespace

const std::vector<Case>& configuration_cases() {
  static const std::vector<Case> kCases = {
      {"configured", configured},   {"group_thread", group_thread},
      {"two_groups", two_groups},   {"first_is_slow", first_is_slow},
      {"late_memory", late_memory}, {"one_rank_fp8", one_rank_fp8},
      {"old_nccl", old_nccl}};
  return kCases;
}

}  // namespace selftest
