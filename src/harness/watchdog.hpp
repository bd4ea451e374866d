// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

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

/// Ends a run that makes no progress for a given time (-T), also one that hangs inside a library.
class Watchdog {
 public:
  using OnTimeout = std::function<void(const std::string& step, Seconds timeout)>;

  /// No timeout, or 0: no thread, until `start`. `on_timeout` is called once, from the watchdog's
  /// own thread, and is expected to end the process.
  Watchdog(std::optional<Seconds> timeout, OnTimeout on_timeout);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Watches from now on, where it does not yet.
  void start(Seconds timeout);
  /// A new step begins: its name is what a timeout will report. From now on the timeout is
  /// `at_most` this long; a shorter one stays.
  void step(const std::string& name, std::optional<Seconds> at_most = {});
  /// What it watches, which the run moves. Other threads may keep it longer than the watchdog.
  [[nodiscard]] const std::shared_ptr<StepTracker>& tracker() const { return tracker_; }

 private:
  void watch();

  std::shared_ptr<StepTracker> tracker_ = std::make_shared<StepTracker>();
  std::optional<Seconds> timeout_;
  OnTimeout on_timeout_;
  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace busbar
