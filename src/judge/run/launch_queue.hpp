// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "judge/run/job.hpp"

namespace busbar::judge {

/// What this machine has left for launchers.
struct LaunchLimits {
  std::uint64_t open_files = 0;  ///< hard limit, RLIMIT_NOFILE
  std::uint64_t used_files = 0;  ///< of these
  std::uint64_t processes = 0;   ///< that may still be started, with threads
  Bytes memory = 0;              ///< that is available
  std::uint64_t processors = 0;
};

struct AtOnce {
  std::size_t launches = 1;
  std::string reason{};  ///< what allows no more: "512 open files (ulimit -n)"
};

/// What was asked for by `option`, else as many as the limits allow; never more than open files and
/// processes allow, since a launcher that gets none ends as if its nodes were at fault; never none.
[[nodiscard]] AtOnce choose_at_once(const LaunchLimits& limits, std::optional<int> wanted,
                                    const std::string& option);

[[nodiscard]] LaunchLimits probe_launch_limits();

/// Raises the soft limit of open files as far as that many launches at the same time need it.
void allow_launches(const LaunchLimits& limits, std::size_t launches);

/// The failure of a launch that was ended with the run, in a journal, too.
inline constexpr std::string_view kInterrupted = "interrupted";

struct LaunchResult {
  std::string csv{};
  std::string banner{};   ///< the first line that stood before the CSV: a host's greeting
  std::string log{};      ///< its stderr
  std::string failure{};  ///< empty: it went well
  int exit_code = 0;
  double seconds = 0;
  std::string command{};
  std::string unreachable{};  ///< the node that was found not to answer before
  bool timed_out = false;
};

/// The commands of one launch, run after each other; their CSVs become one.
using LaunchCommands = std::vector<Words>;

struct LaunchControl {
  Seconds timeout{0};            ///< of all commands of a launch
  std::size_t at_once = 1;       ///< at most this many launches at the same time
  std::function<bool()> stop{};  ///< true: those that run are ended, no other begins
  /// For a job that has written all: MPICH 4.0 over UCX's TCP hangs in MPI_Finalize now and then.
  Seconds linger{2};
  Seconds shortage_patience{2};  ///< where no launch runs whose end could relieve it
};

/// What is reported of launches, by their numbers.
struct LaunchEvents {
  std::function<void(std::size_t)> begun{};
  std::function<void(std::size_t, const LaunchResult&)> ended{};
};

/// Runs launches in their order, watched by this thread alone. The process group of a command that
/// does not end is killed. A temporary shortage of processes, descriptors or memory is waited out
/// while other launches run. Returns what could not be started for any other reason; running
/// launches are then killed and nothing is recorded.
[[nodiscard]] std::optional<std::string> run_launches(std::span<const LaunchCommands> launches,
                                                      const LaunchControl& control,
                                                      const LaunchEvents& events);

/// Takes away what stands before and behind a CSV, such as the greeting of a host. Returns the
/// first line before it; nothing where there is none, or no CSV.
[[nodiscard]] std::string take_banner(std::string& out);

/// Appends the rows of a CSV to another with the same columns; the second's head is dropped.
void append_csv(std::string& csv, const std::string& more);

/// What of a launch's stderr says why it failed: a program's own line, else the first.
[[nodiscard]] std::string telling_line(const std::string& log);

}  // namespace busbar::judge
