// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/group.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/fake_gpu/nccl/debug_log.hpp"

namespace fake_gpu {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Operation> operations;
  std::vector<CommPointer> starting;
};

Group& this_group() {
  thread_local Group group;
  return group;
}

void flip_first_bit(const Operation& operation) {
  unsigned char* result = operation.to_bytes() == 0 ? nullptr : memory().contents(operation.to, 1);
  if (result != nullptr) *result ^= 1U;
}

/// One group's work on one communicator.
bool run(Communicator& comm, const std::vector<Operation>& operations) {
  if (comm.aborted().load() != 0) return true;
  Exchange exchange(comm.segment(), comm.rank());
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Async || operation.fault == FaultKind::Hang) {
      comm.park();
      return true;
    }
  }
  for (const Operation& operation : operations) {
    if (!operation.plan(exchange)) return false;
  }
  const Exchange::Outcome outcome = exchange.run(comm.aborted());
  if (outcome == Exchange::Outcome::Mismatch) {
    comm.fail(ncclInvalidUsage, "calls do not match: " + exchange.mismatch());
    comm.park();
  }
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Wrong) flip_first_bit(operation);
  }
  return true;
}

/// Queues one communicator's part of the group on the stream of its first call.
ncclResult_t issue(const CommPointer& comm, std::vector<Operation> operations) {
  // NCCL's order: collectives, then sends and receives.
  std::stable_partition(operations.begin(), operations.end(),
                        [](const Operation& one) { return !one.is_point_to_point(); });
  for (const Operation& operation : operations) log_operation(operation);
  const StreamPointer stream = operations.front().queue;
  std::vector<StreamPointer> others;
  std::vector<Ticket> after{comm->tail()};
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Async) {
      comm->fail(ncclRemoteError,
                 std::string("FAKE_GPU_FAULT: async error in ") + operation.function);
    }
    if (operation.queue == stream) continue;
    if (std::find(others.begin(), others.end(), operation.queue) != others.end()) continue;
    others.push_back(operation.queue);
    after.push_back(operation.queue->tail());
  }
  Job job;
  job.run = [comm, operations] { return run(*comm, operations); };
  Ticket done;
  if (submit(stream, job, after, &done) != cudaSuccess) {
    return refuse(ncclUnhandledCudaError, "the stream does not take work");
  }
  comm->set_tail(done);
  Job wait;
  wait.run = [] { return true; };
  for (const StreamPointer& other : others) {
    if (submit(other, wait, {done}) != cudaSuccess) return ncclUnhandledCudaError;
  }
  return ncclSuccess;
}

ncclResult_t await_started(const std::vector<CommPointer>& starting) {
  ncclResult_t result = ncclSuccess;
  for (const CommPointer& comm : starting) {
    if (!comm->blocking()) {
      if (result == ncclSuccess) result = ncclInProgress;
      continue;
    }
    const ncclResult_t ready = comm->await_ready();
    if (ready != ncclSuccess) result = ready;
  }
  return result;
}

ncclResult_t issue_all(std::vector<Operation> operations) {
  while (!operations.empty()) {
    const CommPointer comm = operations.front().comm;
    const auto rest =
        std::stable_partition(operations.begin(), operations.end(),
                              [&comm](const Operation& one) { return one.comm == comm; });
    const ncclResult_t status = issue(comm, {operations.begin(), rest});
    if (status != ncclSuccess) return status;
    operations.erase(operations.begin(), rest);
  }
  return ncclSuccess;
}

}  // namespace

bool in_group() { return this_group().depth > 0; }

void begin_group() { ++this_group().depth; }

void spoil_group(ncclResult_t error) {
  if (in_group() && this_group().error == ncclSuccess) this_group().error = error;
}

ncclResult_t end_group() {
  Group& group = this_group();
  if (group.depth == 0) {
    return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  }
  if (--group.depth > 0) return ncclSuccess;
  const Group ended = std::exchange(group, Group{});
  if (ended.error != ncclSuccess) return ended.error;
  const ncclResult_t started = await_started(ended.starting);
  return ended.operations.empty() ? started : issue_all(ended.operations);
}

ncclResult_t add_to_group(const Operation& operation) {
  if (!in_group()) return issue_all({operation});
  this_group().operations.push_back(operation);
  return ncclSuccess;
}

void add_to_group(const CommPointer& starting) { this_group().starting.push_back(starting); }

}  // namespace fake_gpu
