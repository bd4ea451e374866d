// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nccl.h>

#include "tests/fake_gpu/cudart/runtime.hpp"
#include "tests/fake_gpu/nccl/reduction.hpp"
#include "tests/fake_gpu/nccl/segment.hpp"

namespace fake_gpu {

/// One rank's part of a communicator.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  Communicator(std::string name, int ranks, int rank, int device, bool blocking);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] bool blocking() const { return blocking_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Segment& segment() { return *segment_; }
  /// The least compute capability of all ranks, as 10 * major + minor.
  [[nodiscard]] int least_compute_capability();

  /// Meets the other ranks, on a thread of its own; `hang`: never.
  void start(bool hang);
  /// Waits for start() or finalize(), and gives the result.
  ncclResult_t await_ready();
  /// ncclInProgress, success, or what is wrong with it.
  [[nodiscard]] ncclResult_t state();
  /// Does it take calls?
  [[nodiscard]] bool is_ready() const { return state_.load() == ncclSuccess; }
  /// What ncclCommGetAsyncError tells from now on.
  void fail(ncclResult_t error, const std::string& why);

  /// Waits for all work, on a thread of its own.
  void finalize();
  /// Waits for all work; an error where the device broke.
  [[nodiscard]] ncclResult_t flush();
  /// Ends all work, whatever it waits for.
  void abort();
  [[nodiscard]] const std::atomic<int>& aborted() const { return aborted_; }
  /// Returns when abort() was called.
  void park() const;

  /// Work on a communicator is done in the order of the calls, on whatever streams.
  [[nodiscard]] Ticket tail();
  void set_tail(const Ticket& ticket);

  /// Meets the other ranks and tells this one's place among those of its color; false if aborted.
  bool split(int color, int key, std::string* name, std::vector<int>* members);

  [[nodiscard]] ncclRedOp_t add_operator(const Reduction& how);
  [[nodiscard]] bool remove_operator(ncclRedOp_t op);
  /// False where there is no such operator for this type.
  [[nodiscard]] bool find_operator(ncclRedOp_t op, ncclDataType_t type, Reduction* how);

 private:
  [[nodiscard]] ncclResult_t meet();
  [[nodiscard]] ncclResult_t check_gpus();
  [[nodiscard]] bool wait_until_all(std::atomic<std::uint32_t> RankCell::*counter,
                                    std::uint32_t value);

  std::string name_;
  int ranks_;
  int rank_;
  int device_;
  bool blocking_;
  std::unique_ptr<Segment> segment_;
  std::atomic<int> state_{ncclSuccess};
  std::atomic<int> async_error_{ncclSuccess};
  std::atomic<int> aborted_{0};
  std::mutex mutex_;
  Ticket tail_;
  std::uint32_t splits_ = 0;
  std::map<int, Reduction> operators_;
};

using CommPointer = std::shared_ptr<Communicator>;

/// Keeps a communicator under the handle that the user gets.
[[nodiscard]] ncclComm_t keep_comm(const CommPointer& comm);
[[nodiscard]] CommPointer find_comm(ncclComm_t handle);
void forget_comm(ncclComm_t handle);

/// What ncclGetLastError tells.
void set_last_error(const std::string& text);
[[nodiscard]] const char* last_error();
/// Notes the text, and returns the result.
[[nodiscard]] ncclResult_t refuse(ncclResult_t result, const std::string& text);

}  // namespace fake_gpu
