// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "base/units.hpp"

namespace busbar {

/// --load: work that each rank does, one of the two.
struct Load {
  Bytes copy = 0;       ///< bytes that are copied through memory
  Seconds spin{0};      ///< time that it takes the quickest processor
  bool beside = false;  ///< repeated during the operations, else before each
};

/// Work for the processor alone, which no compiler leaves out.
void spin(std::uint64_t turns);
/// Turns per second of this rank's processor: the best of several short tries, as others may take
/// it away for a while.
[[nodiscard]] double spinning_rate();

/// Work that is repeated beside operations, all on one thread of its own.
class SideWork {
 public:
  SideWork() = default;
  SideWork(const SideWork&) = delete;
  SideWork& operator=(const SideWork&) = delete;
  virtual ~SideWork() = default;

  /// Called once on the thread, before the first pass.
  virtual void attach() {}
  /// Does it once; a device may be behind by a fixed number of passes.
  virtual void pass() = 0;
  /// Returns when all passes are complete.
  virtual void drain() {}
};

/// Runs side work between `start` and `stop`.
class SideLoad {
 public:
  explicit SideLoad(std::unique_ptr<SideWork> work) : work_(std::move(work)) {}
  SideLoad(const SideLoad&) = delete;
  SideLoad& operator=(const SideLoad&) = delete;
  ~SideLoad() { join(); }

  /// Returns when it is under way, or has failed.
  void start();
  /// Ends it; its passes per second since `start`. Throws what a pass has thrown.
  [[nodiscard]] double stop();

 private:
  void run() noexcept;
  void join();

  std::unique_ptr<SideWork> work_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> passes_ = 0;
  std::exception_ptr failure_{};  // read when the thread has ended
  std::uint64_t passes_at_start_ = 0;
  Clock::time_point start_{};
  std::thread thread_{};
};

}  // namespace busbar
