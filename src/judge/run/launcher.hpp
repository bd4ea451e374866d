// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "judge/run/job.hpp"

namespace busbar::judge {

/// How a launch went.
struct LaunchResult {
  std::string csv{};
  std::string log{};      ///< its stderr
  std::string failure{};  ///< empty: it went well
  int exit_code = 0;
  double seconds = 0;
  std::string command{};
  bool timed_out = false;
  bool stopped = false;  ///< by `stop`
};

/// The commands of one launch, run after each other; their CSVs become one.
using Launch = std::vector<Words>;

/// How launches run.
struct LaunchControl {
  Seconds timeout{0};                       ///< of all commands of a launch
  std::size_t at_once = 1;                  ///< so many launches at the same time at most
  const std::atomic<bool>* stop = nullptr;  ///< ends those that run; no other begins
};

/// What is reported of launches, by their numbers.
struct LaunchEvents {
  std::function<void(std::size_t)> begun{};
  std::function<void(std::size_t, const LaunchResult&)> ended{};
};

/// Runs launches in their order, watched by this thread alone. The process group of a command that
/// does not end is killed. A temporary shortage of processes, descriptors or memory is waited out
/// while other launches run. What could not be started else, which is no fault of a launch: nothing
/// is reported of it, and launches that run are ended.
[[nodiscard]] std::optional<std::string> run_launches(std::span<const Launch> launches,
                                                      const LaunchControl& control,
                                                      const LaunchEvents& events);

/// Appends the rows of a CSV to another with the same columns; the second's head is dropped.
void append_csv(std::string& csv, const std::string& more);

/// What of a launch's stderr says why it failed: a program's own line, else the first.
[[nodiscard]] std::string telling_line(const std::string& log);

}  // namespace busbar::judge
