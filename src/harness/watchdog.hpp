// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/units.hpp"
#include "harness/step_tracker.hpp"

namespace busbar {

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
