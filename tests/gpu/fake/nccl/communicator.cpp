// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

#include "tests/gpu/fake/nccl/operation.hpp"

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
  for (const Peer& peer : peers_) {
    if (peer.contents != contents_start()) unmap_contents(peer.contents);
  }
  if (has_memory_) ledger().give(gpu(device_).place, machine().nccl_bytes);
}

int Communicator::least_compute_capability() const {
  int least = peers_.front().compute_capability;
  for (const Peer& peer : peers_) least = std::min(least, peer.compute_capability);
  return least;
}

void Communicator::start(bool hang) {
  segment_ = std::make_unique<Segment>(name_, rank_, ranks_);
  std::thread([self = shared_from_this(), hang] {
    if (hang) self->park();
    const ncclResult_t met = hang ? ncclInternalError : self->connect_ranks();
    if (hang) self->segment_->remove_name();
    if (met == ncclSuccess) log_init(*self);
    self->state_.store(met);
  }).detach();
}

ncclResult_t Communicator::connect_ranks() {
  if (!segment_->agrees()) return invalid("the ranks name different numbers of ranks");
  if (!segment_->attach())
    return refuse(ncclInvalidUsage, "rank " + std::to_string(rank_) + " is there twice");
  const bool all = segment_->wait(aborted_, [this] { return segment_->is_complete(); });
  segment_->remove_name();
  const Gpu& own = gpu(device_);
  const SharedContents contents = own_contents();
  std::vector<Note> notes;
  if (!all ||
      !meet(Line::Calls,
            {host_hash(), own.bus_id(), static_cast<std::uint64_t>(10 * own.major + own.minor),
             static_cast<std::uint64_t>(contents.process) << 32 |
                 static_cast<unsigned>(contents.file)},
            &notes)) {
    return ncclInternalError;
  }
  for (const Note& note : notes) {
    const SharedContents theirs{static_cast<int>(note[3] >> 32), static_cast<int>(note[3])};
    const bool is_own = theirs.process == contents.process;
    peers_.push_back({note[0], note[1], static_cast<int>(note[2]),
                      is_own ? contents_start() : map_contents(theirs)});
    if (peers_.back().contents == nullptr)
      return refuse(ncclSystemError, "a rank's memory cannot be mapped");
  }
  // No rank ends before all have mapped its memory.
  return meet(Line::Calls, {}, &notes) ? check_gpus() : ncclInternalError;
}

ncclResult_t Communicator::check_gpus() const {
  if (nccl_version() >= 23000 && variable("NCCL_MULTI_RANK_GPU_ENABLE") == 1) return ncclSuccess;
  const Peer& mine = peers_[static_cast<std::size_t>(rank_)];
  for (int other = 0; other < ranks_; ++other) {
    const Peer& theirs = peers_[static_cast<std::size_t>(other)];
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

bool Communicator::has_symmetric_support() const {
  const auto is_near = [this](const Peer& peer) {
    return peer.host_hash == peers_.front().host_hash;
  };
  return machine().symmetric && variable("NCCL_WIN_ENABLE") != 0 &&
         variable("NCCL_CUMEM_ENABLE") != 0 && std::all_of(peers_.begin(), peers_.end(), is_near);
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
