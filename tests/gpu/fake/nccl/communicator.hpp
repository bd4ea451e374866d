// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <thread>

#include "tests/gpu/fake/cudart/runtime.hpp"
#include "tests/gpu/fake/nccl/config.hpp"
#include "tests/gpu/fake/nccl/registration.hpp"
#include "tests/gpu/fake/nccl/segment.hpp"

namespace fake_gpu {

/// The thread of a group on communicators that do not block, which the last of them joins.
class GroupThread {
 public:
  template <class Body>
  explicit GroupThread(Body body) : thread_(std::move(body)) {}
  ~GroupThread();
  GroupThread(const GroupThread&) = delete;
  GroupThread& operator=(const GroupThread&) = delete;

 private:
  std::thread thread_;
};

/// One rank's part of a communicator.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  Communicator(std::string name, int ranks, int rank, int device, const CommConfig& config);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] bool blocking() const { return config_.blocking; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Segment& segment() { return *segment_; }
  /// The least compute capability of all ranks, as 10 * major + minor.
  [[nodiscard]] int least_compute_capability() const;

  /// Meets the other ranks, on a thread of its own; `hang`: never.
  void start(bool hang);
  /// Waits for start(), and gives the result.
  ncclResult_t await_ready();
  /// ncclInProgress, success, or what is wrong with it.
  [[nodiscard]] ncclResult_t state();
  /// Refuses a call while an earlier one is in progress.
  [[nodiscard]] ncclResult_t ensure_ready();
  /// In progress until the thread of a group ends, which calls finish_group().
  void begin_group();
  void link_group(const std::shared_ptr<GroupThread>& thread);
  void finish_group(ncclResult_t result) { state_.store(result); }
  /// What ncclCommGetAsyncError reports from now on.
  void fail(ncclResult_t error, const std::string& why);

  /// Waits for all work; an error where the device broke.
  [[nodiscard]] ncclResult_t flush();
  /// Tells all work to end, whatever it waits for.
  void ask_to_end();
  [[nodiscard]] const std::atomic<int>& aborted() const { return aborted_; }
  /// Returns when abort() was called.
  void park() const;

  /// Work on a communicator is done in the order of the calls, on whatever streams.
  [[nodiscard]] Ticket tail();
  void set_tail(const Ticket& ticket);

  /// Is this kind of operation new here? It connects the ranks then.
  [[nodiscard]] bool is_new(int kind);
  /// What the first operation of a kind does: it takes time, and the very first one device memory.
  [[nodiscard]] ncclResult_t connect(int kind);

  [[nodiscard]] RegistrationCache& registrations() { return registrations_; }
  /// Ranges that graphs have ceased to use, forgotten at every eleventh group.
  void release_later(const std::vector<void*>& handles);
  void leave_group();
  /// Can all ranks map each other's memory?
  [[nodiscard]] bool has_symmetric_support() const;
  /// Meets the other ranks, and reads their notes; false where aborted.
  [[nodiscard]] bool meet(Line line, const Note& mine, std::vector<Note>* notes) const {
    return segment_->meet(line, mine, aborted_, notes);
  }
  /// The contents of a rank's device memory, as this process sees them.
  [[nodiscard]] const unsigned char* contents_of(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].contents;
  }

 private:
  struct Peer {
    std::uint64_t host_hash = 0;
    std::uint64_t bus_id = 0;
    int compute_capability = 0;
    const unsigned char* contents = nullptr;
  };

  [[nodiscard]] ncclResult_t connect_ranks();
  [[nodiscard]] ncclResult_t check_gpus() const;

  std::string name_;
  int ranks_;
  int rank_;
  int device_;
  CommConfig config_;
  std::unique_ptr<Segment> segment_;
  std::vector<Peer> peers_;
  std::atomic<int> state_{ncclSuccess};
  std::atomic<int> async_error_{ncclSuccess};
  std::atomic<int> aborted_{0};
  std::mutex mutex_;
  Ticket tail_;
  std::shared_ptr<GroupThread> group_;
  std::set<int> connected_;
  bool has_memory_ = false;
  RegistrationCache registrations_;
  std::vector<void*> released_;
  int groups_since_release_ = 0;
};

using CommPointer = std::shared_ptr<Communicator>;

/// Keeps a communicator under the handle that the user gets.
[[nodiscard]] ncclComm_t keep_comm(const CommPointer& comm);
[[nodiscard]] CommPointer find_comm(ncclComm_t handle);
void forget_comm(ncclComm_t handle);

/// What ncclGetLastError reports.
void set_last_error(const std::string& text);
[[nodiscard]] const char* last_error();
/// Notes the text, and returns the result.
[[nodiscard]] ncclResult_t refuse(ncclResult_t result, const std::string& text);
/// The same for ncclInvalidArgument.
[[nodiscard]] ncclResult_t invalid(const std::string& text);

}  // namespace fake_gpu
