// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
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

/// Runs commands after each other, as one launch that must end within `timeout`; their CSVs become
/// one. The process group of a command that does not end is killed.
[[nodiscard]] LaunchResult run_launch(const std::vector<Words>& commands, Seconds timeout,
                                      const std::atomic<bool>* stop);

/// Several launches at the same time, with results in their order.
[[nodiscard]] std::vector<LaunchResult> run_launches(
    const std::vector<std::vector<Words>>& launches, Seconds timeout,
    const std::atomic<bool>* stop);

/// Appends the rows of a CSV to another with the same columns; the second's head is dropped.
void append_csv(std::string& csv, const std::string& more);

/// What of a launch's stderr says why it failed: a program's own line, else the first.
[[nodiscard]] std::string telling_line(const std::string& log);

}  // namespace busbar::judge
