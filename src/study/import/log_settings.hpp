// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::study {

/// Variables of the environment that a run was started with.
using Settings = std::map<std::string, std::string>;

/// True for a test's program: "./build/all_reduce_perf", "all_gather_perf_mpi".
[[nodiscard]] bool names_test(const std::string& word);

/// The words of a line that is the command of a test, "+ NCCL_ALGO=Ring srun ./all_reduce_perf -b
/// 8" or "Command: mpirun ...", from its first assignment or program on; nothing for titles
/// and prose that name a program.
[[nodiscard]] std::optional<std::vector<std::string>> command_in(std::string_view line);

/// The variables that a command sets: before a program, by -x, -genv or --export.
[[nodiscard]] Settings settings_of_command(const std::vector<std::string>& command);

/// What else of a command makes its measurement another: options with their values, and the
/// program's folder. Neither what a row has (sizes, type, operation, root) nor where output goes.
[[nodiscard]] std::vector<std::string> options_of_command(const std::vector<std::string>& command);

/// "NCCL_ALGO set by environment to Ring" of NCCL's own log, or nothing.
[[nodiscard]] std::optional<Settings> settings_of_library(std::string_view message);

/// What stands between the runs of a log and says how the next one differs.
class LogContext {
 public:
  /// Takes `export NAME=VALUE`, lines of assignments, and titles: "=== Ring ===", "## Ring",
  /// "Running with NCCL_ALGO=Ring". Others are passed over.
  void read(std::string_view line);

  /// The variables in force.
  [[nodiscard]] Settings settings() const;
  /// The titles in force, outermost first, without the number of a repetition ("run 2 of 3") and
  /// without those that are assignments alone.
  [[nodiscard]] std::vector<std::string> titles() const;
  /// Takes the command of a test, for repetitions under the titles now in force.
  void set_command(std::string command);
  /// The command that a repetition without its own has: that of the titles above it, or empty.
  [[nodiscard]] std::string command() const;
  /// Whether a title has the number of a repetition.
  [[nodiscard]] bool is_repetition() const;

 private:
  struct Title {
    std::string text{};
    Settings settings{};
    bool repeats = false;
  };
  void set_title(int level, std::string_view text);

  Settings exported_{};
  std::map<int, Title> titles_{};  ///< by level
  std::string command_{};
  int command_level_ = 0;  ///< of the innermost title above it
  bool after_assignments_ = false;
};

}  // namespace busbar::study
