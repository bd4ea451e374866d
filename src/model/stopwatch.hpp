// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// Times consecutive intervals of a rank's data plane: host clock or device events.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  /// Forgets all intervals and makes room for `laps` of them.
  virtual void reset(std::size_t laps) = 0;
  /// The next interval begins here.
  virtual void start() = 0;
  /// An interval ends here and the next begins.
  virtual void lap() = 0;
  /// As `start` and `lap`; returns the host's time without the recording of the event itself.
  virtual Clock::time_point start_on_host() {
    start();
    return Clock::now();
  }
  virtual Clock::time_point lap_on_host() {
    const Clock::time_point now = Clock::now();
    lap();
    return now;
  }
  /// The intervals since reset; only after Communicator::wait.
  [[nodiscard]] virtual const std::vector<Seconds>& intervals() = 0;
  /// What one reading costs, measured now: operations much longer are timed one by one.
  [[nodiscard]] virtual Seconds cost() = 0;
};

/// Host clock, for backends whose operations are complete when enqueue returns.
class HostStopwatch final : public Stopwatch {
 public:
  void reset(std::size_t laps) override {
    intervals_.clear();
    intervals_.reserve(laps);
  }
  void start() override { last_ = Clock::now(); }
  void lap() override {
    const Clock::time_point now = Clock::now();
    intervals_.emplace_back(now - last_);
    last_ = now;
  }
  // One reading serves both: a second one would be inside the interval.
  Clock::time_point start_on_host() override {
    start();
    return last_;
  }
  Clock::time_point lap_on_host() override {
    lap();
    return last_;
  }
  [[nodiscard]] const std::vector<Seconds>& intervals() override { return intervals_; }
  /// The median of many consecutive readings.
  [[nodiscard]] Seconds cost() override {
    constexpr std::size_t kReadings = 1001;
    std::vector<Seconds> costs(kReadings);
    Clock::time_point last = Clock::now();
    for (Seconds& cost : costs) {
      const Clock::time_point now = Clock::now();
      cost = now - last;
      last = now;
    }
    const auto middle = costs.begin() + kReadings / 2;
    std::ranges::nth_element(costs, middle);
    return std::max(*middle, Seconds{1e-9});
  }

 private:
  Clock::time_point last_;
  std::vector<Seconds> intervals_;
};

}  // namespace busbar
