// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "tests/gpu/fake/nccl/exchange.hpp"

namespace fake_gpu {
namespace {

struct Task {
  CommPointer comm;
  std::function<ncclResult_t()> run;
};

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Task> tasks{};
  std::vector<Operation> operations{};
  std::vector<CommPointer> starting{};
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
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Async || operation.fault == FaultKind::Hang) {
      comm.park();
      return true;
    }
  }
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Slow) sleep_slowly(operation.function, comm.aborted());
  }
  Exchange exchange(comm);
  const Exchange::Outcome outcome = exchange.run(operations);
  if (outcome == Exchange::Outcome::NoMemory) return false;
  if (outcome == Exchange::Outcome::Mismatch) {
    comm.fail(ncclInvalidUsage, "calls do not match: " + exchange.mismatch());
    comm.park();
  }
  for (const Operation& operation : operations) {
    if (operation.fault == FaultKind::Wrong) flip_first_bit(operation);
  }
  return true;
}

/// The ranges that a captured group keeps registered until its graph is gone.
class GraphRegistration {
 public:
  explicit GraphRegistration(const CommPointer& comm) : comm_(comm) {}
  ~GraphRegistration() {
    if (const CommPointer comm = comm_.lock()) comm->release_later(handles_);
  }
  GraphRegistration(const GraphRegistration&) = delete;
  GraphRegistration& operator=(const GraphRegistration&) = delete;

  Pages add(RegistrationCache& cache, const void* start, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    handles_.push_back(cache.add(start, bytes, RegistrationCache::By::Graph));
    return cache.pages_of(handles_.back(), start, bytes);
  }

 private:
  std::weak_ptr<Communicator> comm_;
  std::vector<void*> handles_;
};

bool is_capturing(const StreamPointer& stream) {
  const auto guard = lock_runtime();
  return stream->capture != nullptr;
}

/// Finds the memory that NCCL knows for the buffers of a group; what the graph keeps is returned.
std::shared_ptr<GraphRegistration> find_registered(const CommPointer& comm,
                                                   std::vector<Operation>& operations) {
  if (comm->ranks() == 1) return nullptr;
  RegistrationCache& cache = comm->registrations();
  const bool capturing = is_capturing(operations.front().queue);
  if (!capturing || nccl_version() < 21900 || variable("NCCL_GRAPH_REGISTER") == 0) {
    for (Operation& one : operations) {
      one.registered_to = cache.find_by_user(one.to, one.to_bytes());
    }
    return nullptr;
  }
  auto kept = std::make_shared<GraphRegistration>(comm);
  for (Operation& one : operations) {
    static_cast<void>(kept->add(cache, one.from, one.from_bytes()));
    one.registered_to = kept->add(cache, one.to, one.to_bytes());
  }
  return kept;
}

/// Do other ranks write to memory that is no longer behind the buffer's address?
bool is_stale(const Operation& one) {
  return one.registered_to != nullptr &&
         one.registered_to.get() != memory().contents(one.to, one.to_bytes());
}

void trace_operations(const CommPointer& comm, const std::vector<Operation>& operations) {
  for (const Operation& one : operations) {
    trace("op rank=" + std::to_string(comm->rank()) + " " + one.function + " count=" +
          std::to_string(one.count) + " capturing=" + (is_capturing(one.queue) ? "1" : "0") +
          " stale=" + (is_stale(one) ? "1" : "0"));
  }
}

/// Queues one communicator's part of the group on the stream of its first call.
ncclResult_t issue(const CommPointer& comm, std::vector<Operation> operations) {
  constexpr std::size_t kEntries = 3;  // an event, a wait and a kernel
  for (const Operation& operation : operations) {
    if (const auto connected = comm->connect(operation.kind()); connected != ncclSuccess)
      return connected;
  }
  // NCCL's order: collectives, then sends and receives.
  std::stable_partition(operations.begin(), operations.end(),
                        [](const Operation& one) { return !one.is_point_to_point(); });
  for (const Operation& operation : operations) log_operation(operation);
  const StreamPointer stream = operations.front().queue;
  stream->await_room();
  const std::shared_ptr<GraphRegistration> kept = find_registered(comm, operations);
  trace_operations(comm, operations);
  comm->leave_group();
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
  const auto work = [comm, operations, kept] { return run(*comm, operations); };
  Ticket done;
  if (submit(stream, {.run = work, .entries = kEntries}, after, &done) != cudaSuccess) {
    return refuse(ncclUnhandledCudaError, "the stream does not take work");
  }
  comm->set_tail(done);
  for (const StreamPointer& other : others) {
    if (submit(other, {[] { return true; }}, {done}) != cudaSuccess) return ncclUnhandledCudaError;
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
    if (const auto status = issue(comm, {operations.begin(), rest}); status != ncclSuccess)
      return status;
    operations.erase(operations.begin(), rest);
  }
  return ncclSuccess;
}

ncclResult_t run_all(const Group& group) {
  for (const Task& task : group.tasks) {
    if (const auto status = task.run(); status != ncclSuccess) return status;
  }
  return issue_all(group.operations);
}

std::vector<CommPointer> comms_of(const Group& group) {
  std::vector<CommPointer> comms;
  for (const Task& task : group.tasks) comms.push_back(task.comm);
  for (const Operation& operation : group.operations) comms.push_back(operation.comm);
  std::sort(comms.begin(), comms.end());
  comms.erase(std::unique(comms.begin(), comms.end()), comms.end());
  return comms;
}

/// From 2.23.4 on NCCL starts a thread for every group on communicators that do not block, before
/// only for one that connects.
bool needs_thread(const Group& group) {
  const auto is_new = [](const Operation& one) { return one.comm->is_new(one.kind()); };
  return nccl_version() >= 22304 || !group.tasks.empty() ||
         std::any_of(group.operations.begin(), group.operations.end(), is_new);
}

ncclResult_t start_thread(const Group& group, const std::vector<CommPointer>& comms) {
  for (const CommPointer& comm : comms) comm->begin_group();
  const auto thread = std::make_shared<GroupThread>([group, comms] {
    const ncclResult_t result = run_all(group);
    for (const CommPointer& comm : comms) comm->finish_group(result);
  });
  for (const CommPointer& comm : comms) comm->link_group(thread);
  return ncclInProgress;
}

/// The outermost group's work: on this thread, or on one that is joined when a communicator is
/// asked for its state.
ncclResult_t run_group(const Group& group) {
  const std::vector<CommPointer> comms = comms_of(group);
  if (comms.empty()) return ncclSuccess;
  const bool blocking = comms.front()->blocking();
  for (const CommPointer& comm : comms) {
    if (comm->blocking() != blocking) {
      return invalid("Blocking and nonblocking communicators are not allowed in the same group.");
    }
  }
  const bool threaded = !blocking && needs_thread(group);
  trace("group rank=" + std::to_string(comms.front()->rank()) +
        " thread=" + (threaded ? "1" : "0"));
  return threaded ? start_thread(group, comms) : run_all(group);
}

}  // namespace

bool in_group() { return this_group().depth > 0; }
void begin_group() { ++this_group().depth; }

void spoil_group(ncclResult_t error) {
  if (in_group() && this_group().error == ncclSuccess) this_group().error = error;
}

ncclResult_t end_group() {
  Group& group = this_group();
  if (group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--group.depth > 0) return ncclSuccess;
  const Group ended = std::exchange(group, Group{});
  if (ended.error != ncclSuccess) return ended.error;
  const ncclResult_t started = await_started(ended.starting);
  const bool starts_only = ended.operations.empty() && ended.tasks.empty();
  return starts_only ? started : run_group(ended);
}

ncclResult_t add_to_group(const Operation& operation) {
  if (!in_group()) return run_group({.operations = {operation}});
  this_group().operations.push_back(operation);
  return ncclSuccess;
}

ncclResult_t add_to_group(const CommPointer& comm, std::function<ncclResult_t()> task) {
  const Task added{comm, std::move(task)};
  if (!in_group()) return run_group({.tasks = {added}});
  this_group().tasks.push_back(added);
  return ncclSuccess;
}

void add_to_group(const CommPointer& starting) { this_group().starting.push_back(starting); }

}  // namespace fake_gpu
