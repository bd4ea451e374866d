// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/fake_gpu/cudart/memory.hpp"
#include "tests/fake_gpu/nccl/config.hpp"
#include "tests/fake_gpu/nccl/operation.hpp"

// What the process knows of communicators: their handles, and the last error.
namespace fake_gpu {
namespace {

/// NCCL's rule: NCCL_HOSTID, else the host itself.
std::uint64_t host_hash() {
  const char* given = std::getenv("NCCL_HOSTID");
  return hash_text(given != nullptr ? given : host_name());
}

std::string duplicate_text(int rank, int other, std::uint64_t bus_id) {
  std::array<char, 160> text{};
  static_cast<void>(
      std::snprintf(text.data(), text.size(),
                    "Duplicate GPU detected : rank %d and rank %d both on CUDA device %lx", rank,
                    other, static_cast<unsigned long>(bus_id)));
  return text.data();
}

}  // namespace

GroupThread::~GroupThread() {
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

Communicator::Communicator(std::string name, int ranks, int rank, int device,
                           const CommConfig& config)
    : name_(std::move(name)), ranks_(ranks), rank_(rank), device_(device), config_(config) {
  state_.store(ncclInProgress);
}

Communicator::~Communicator() {
  if (has_memory_) ledger().give(gpu(device_).place, machine().nccl_bytes);
}

int Communicator::least_compute_capability() {
  int least = segment_->cell(0).compute_capability;
  for (int other = 1; other < ranks_; ++other) {
    least = std::min(least, segment_->cell(other).compute_capability);
  }
  return least;
}

void Communicator::start(bool hang) {
  segment_ = std::make_unique<Segment>(name_, ranks_);
  std::thread([self = shared_from_this(), hang] {
    if (hang) self->park();
    const ncclResult_t met = hang ? ncclInternalError : self->meet();
    if (hang) self->segment_->remove_name();
    if (met == ncclSuccess) log_init(*self);
    self->state_.store(met);
  }).detach();
}

ncclResult_t Communicator::meet() {
  if (!segment_->agrees()) return invalid("the ranks name different numbers of ranks");
  RankCell& mine = segment_->cell(rank_);
  if (mine.present.load() == 0) {
    mine.host_hash = host_hash();
    mine.bus_id = gpu(device_).bus_id();
    mine.compute_capability = 10 * gpu(device_).major + gpu(device_).minor;
  }
  if (!segment_->attach(rank_))
    return refuse(ncclInvalidUsage, "rank " + std::to_string(rank_) + " is there twice");
  while (!segment_->is_complete()) {
    if (aborted_.load() != 0) {
      segment_->remove_name();
      return ncclInternalError;
    }
    const std::uint32_t seen = mine.bell.load();
    if (!segment_->is_complete()) segment_->sleep(rank_, seen);
  }
  segment_->remove_name();
  return check_gpus();
}

ncclResult_t Communicator::check_gpus() {
  if (nccl_version() >= 23000 && variable("NCCL_MULTI_RANK_GPU_ENABLE") == 1) return ncclSuccess;
  const RankCell& mine = segment_->cell(rank_);
  for (int other = 0; other < ranks_; ++other) {
    const RankCell& theirs = segment_->cell(other);
    if (other != rank_ && theirs.host_hash == mine.host_hash && theirs.bus_id == mine.bus_id)
      return refuse(ncclInvalidUsage, duplicate_text(rank_, other, mine.bus_id));
  }
  return ncclSuccess;
}

ncclResult_t Communicator::await_ready() {
  while (state_.load() == ncclInProgress) ::usleep(200);
  return static_cast<ncclResult_t>(state_.load());
}

ncclResult_t Communicator::state() {
  const int state = state_.load();
  std::shared_ptr<GroupThread> ended;
  if (state != ncclInProgress) {
    const std::lock_guard guard(mutex_);
    ended.swap(group_);
  }
  const int error = async_error_.load();
  return static_cast<ncclResult_t>(error != ncclSuccess ? error : state);
}

ncclResult_t Communicator::ensure_ready() {
  const ncclResult_t now = state();
  if (now != ncclInProgress) return now;
  return invalid("Attempt to use communicator before the previous operation returned ncclSuccess");
}

void Communicator::begin_group() { state_.store(ncclInProgress); }

void Communicator::link_group(const std::shared_ptr<GroupThread>& thread) {
  const std::lock_guard guard(mutex_);
  group_ = thread;
}

void Communicator::fail(ncclResult_t error, const std::string& why) {
  set_last_error(why);
  async_error_.store(error);
}

ncclResult_t Communicator::flush() {
  const Ticket last = tail();
  if (last == nullptr || last->wait(device_error_flag())) return ncclSuccess;
  return ncclUnhandledCudaError;
}

void Communicator::finalize() {
  state_.store(ncclInProgress);
  std::thread([self = shared_from_this()] { self->state_.store(self->flush()); }).detach();
}

void Communicator::ask_to_end() {
  aborted_.store(1);
  segment_->ring(rank_);
}

void Communicator::park() const {
  while (aborted_.load() == 0) ::usleep(5000);
}

Ticket Communicator::tail() {
  const std::lock_guard guard(mutex_);
  return tail_;
}

void Communicator::set_tail(const Ticket& ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket != nullptr) tail_ = ticket;
}

bool Communicator::wait_until_all(std::atomic<std::uint32_t> RankCell::*counter,
                                  std::uint32_t value) {
  for (int other = 0; other < ranks_; ++other) {
    while ((segment_->cell(other).*counter).load() < value) {
      if (aborted_.load() != 0) return false;
      const std::uint32_t seen = segment_->cell(rank_).bell.load();
      if ((segment_->cell(other).*counter).load() < value) segment_->sleep(rank_, seen);
    }
  }
  return true;
}

bool Communicator::is_new(int kind) {
  const std::lock_guard guard(mutex_);
  return connected_.count(kind) == 0;
}

ncclResult_t Communicator::connect(int kind) {
  {
    const std::lock_guard guard(mutex_);
    if (!connected_.insert(kind).second) return ncclSuccess;
    const Gpu& owner = gpu(device_);
    if (!has_memory_ && machine().nccl_bytes != 0) {
      has_memory_ = ledger().take(owner.place, machine().nccl_bytes, owner.memory_bytes);
      if (!has_memory_) return refuse(ncclUnhandledCudaError, "Cuda failure 2 'out of memory'");
    }
  }
  const std::int64_t end =
      monotonic_ns() + static_cast<std::int64_t>(machine().connect_seconds * 1e9);
  while (monotonic_ns() < end && aborted_.load() == 0) ::usleep(1000);
  return ncclSuccess;
}

void Communicator::release_later(const std::vector<void*>& handles) {
  const std::lock_guard guard(mutex_);
  released_.insert(released_.end(), handles.begin(), handles.end());
}

void Communicator::leave_group() {
  constexpr int kGroups = 10;  // NCCL's GROUP_MAX_RECLAIM_STEPS
  const std::lock_guard guard(mutex_);
  if (groups_since_release_ < kGroups) {
    ++groups_since_release_;
    return;
  }
  groups_since_release_ = 0;
  for (void* handle : std::exchange(released_, {})) {
    static_cast<void>(registrations_.remove(handle, RegistrationCache::By::Graph));
  }
}

bool Communicator::has_symmetric_support() {
  if (!machine().symmetric || variable("NCCL_WIN_ENABLE") == 0 ||
      variable("NCCL_CUMEM_ENABLE") == 0)
    return false;
  for (int other = 0; other < ranks_; ++other) {
    if (segment_->cell(other).host_hash != segment_->cell(0).host_hash) return false;
  }
  return true;
}

ncclResult_t Communicator::meet_for_window(std::size_t bytes) {
  const std::uint32_t round = ++windows_;
  if (!wait_until_all(&RankCell::windows_read, round - 1)) return ncclInternalError;
  RankCell& mine = segment_->cell(rank_);
  mine.window_bytes = bytes;
  mine.windows_announced.store(round);
  segment_->ring_all();
  if (!wait_until_all(&RankCell::windows_announced, round)) return ncclInternalError;
  bool equal = true;
  for (int other = 0; other < ranks_; ++other) {
    equal = equal && segment_->cell(other).window_bytes == bytes;
  }
  mine.windows_read.store(round);
  segment_->ring_all();
  return equal ? ncclSuccess : refuse(ncclInvalidUsage, "windows differ in size between ranks");
}

bool Communicator::split(int color, int key, std::string* name, std::vector<int>* members) {
  // Nobody writes what somebody has yet to read.
  const std::uint32_t round = ++splits_;
  if (!wait_until_all(&RankCell::splits_read, round - 1)) return false;
  RankCell& mine = segment_->cell(rank_);
  mine.color = color;
  mine.key = key;
  mine.splits_announced.store(round);
  segment_->ring_all();
  if (!wait_until_all(&RankCell::splits_announced, round)) return false;
  std::vector<std::pair<int, int>> order;
  for (int other = 0; other < ranks_; ++other) {
    const RankCell& theirs = segment_->cell(other);
    if (theirs.color == color) order.emplace_back(theirs.key, other);
  }
  mine.splits_read.store(round);
  segment_->ring_all();
  std::sort(order.begin(), order.end());
  for (const auto& [theirs, other] : order) members->push_back(other);
  *name = name_ + "." + std::to_string(round) + "." + std::to_string(color);
  return true;
}

ncclRedOp_t Communicator::add_operator(const Reduction& how) {
  const std::lock_guard guard(mutex_);
  int op = ncclNumOps;
  while (operators_.count(op) != 0) ++op;
  operators_[op] = how;
  return static_cast<ncclRedOp_t>(op);
}

bool Communicator::remove_operator(ncclRedOp_t op) {
  const std::lock_guard guard(mutex_);
  return operators_.erase(op) == 1;
}

bool Communicator::find_operator(ncclRedOp_t op, ncclDataType_t type, Reduction* how) {
  const int number = op;
  how->type = type;
  how->ranks = ranks_;
  if (number >= ncclSum && number <= ncclAvg) {
    constexpr Reduction::Kind kKinds[] = {Reduction::Kind::Sum, Reduction::Kind::Prod,
                                          Reduction::Kind::Max, Reduction::Kind::Min,
                                          Reduction::Kind::Avg};
    how->kind = kKinds[number];
    return true;
  }
  const std::lock_guard guard(mutex_);
  const auto found = operators_.find(number);
  if (found == operators_.end() || found->second.type != type) return false;
  *how = found->second;
  return true;
}

}  // namespace fake_gpu

struct ncclComm {
  fake_gpu::CommPointer comm;
};

namespace fake_gpu {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<ncclComm_t> comms;
  std::string last_error;
};

Registry& registry() {
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

}  // namespace

ncclComm_t keep_comm(const CommPointer& comm) {
  const std::lock_guard guard(registry().mutex);
  auto* handle = new ncclComm{comm};
  registry().comms.insert(handle);
  return handle;
}

CommPointer find_comm(ncclComm_t handle) {
  const std::lock_guard guard(registry().mutex);
  return registry().comms.count(handle) == 0 ? nullptr : handle->comm;
}

void forget_comm(ncclComm_t handle) {
  const std::lock_guard guard(registry().mutex);
  if (registry().comms.erase(handle) == 1) delete handle;
}

void set_last_error(const std::string& text) {
  const std::lock_guard guard(registry().mutex);
  registry().last_error = text;
}

const char* last_error() {
  thread_local std::array<char, 512> text;
  const std::lock_guard guard(registry().mutex);
  const std::size_t length = registry().last_error.copy(text.data(), text.size() - 1);
  text.at(length) = '\0';
  return text.data();
}

ncclResult_t refuse(ncclResult_t result, const std::string& text) {
  set_last_error(text);
  return result;
}

ncclResult_t invalid(const std::string& text) { return refuse(ncclInvalidArgument, text); }

}  // namespace fake_gpu
