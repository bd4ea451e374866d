// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/units.hpp"
#include "bootstrap/step_position.hpp"

namespace busbar {

/// Where this rank is. The rank's main thread moves it, at the cost of a store for an operation;
/// other threads read it.
class StepTracker {
 public:
  /// A step begins that all ranks take, with operations of its own.
  void step(const std::string& text);
  /// The next part of a step begins, which counts as a step: "timing".
  void phase(const std::string& text);
  /// Operation `number` of the step begins, counted from 1.
  void begin_operation(std::uint64_t number) {
    point_.store(2 * number - 1, std::memory_order_relaxed);
  }
  /// The operations that have begun are complete.
  void end_operations();
  /// Something else was completed.
  void tick() {
    ticks_.store(ticks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// From any thread.
  [[nodiscard]] StepPosition position() const;

  /// How long nothing has moved, as far as calls of this function can see. The watchdog's.
  [[nodiscard]] Seconds idle();
  /// Counts the idle time from now on.
  void restart_clock() { moved_.store(Clock::now()); }
  /// Another rank has made no progress for too long: the watchdog is to report at once.
  void request_report() { report_requested_ = true; }
  [[nodiscard]] bool report_requested() const { return report_requested_; }

 private:
  void begin(const std::string& text);

  std::atomic<std::uint64_t> step_ = 0;
  std::atomic<std::uint64_t> point_ = 0;
  std::atomic<std::uint64_t> ticks_ = 0;
  std::array<std::uint64_t, 3> seen_{};  // of these, by the last look
  std::atomic<Clock::time_point> moved_ = Clock::now();
  std::atomic<bool> report_requested_ = false;
  mutable std::mutex mutex_;  // of the texts
  std::string step_text_;
  std::string text_;
};

}  // namespace busbar
