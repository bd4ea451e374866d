// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/row_key.hpp"
#include "study/dataset.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {

/// Runs of a log that give no row twice: a launch of one setting.
struct LogLaunch {
  std::string setting{};  ///< "NCCL_ALGO=Ring", "run2"; empty where no other setting is in the log
  int number = 1;         ///< of the launches of this setting
  std::vector<LogFile> logs{};  ///< one, with the launch's tables alone, where there are several
  std::set<RowKey> rows{};      ///< there as well
};

/// The launches of logs: one of all where no two tests give the same row. Else tests that give the
/// same row are distinguished by the variables of NCCL in which they differ, and by their order
/// where they are not repetitions of a command. Throws what records_of throws.
[[nodiscard]] std::vector<LogLaunch> launches_of(std::span<const LogFile> logs,
                                                 const LogReading& reading);

/// "NCCL_ALGO=Ring, NCCL_ALGO=Tree", of the settings of all launches.
[[nodiscard]] std::string settings_text(std::span<const std::string> settings);

/// The rows of one launch: of a CSV of ours, or of another tool's log.
struct FileRows {
  std::string setting{};  ///< "NCCL_ALGO=Ring": which of a log's launches, where it has several
  Dataset dataset{};
  Words notes{};  ///< what was inferred of a log
};

/// True for a file whose first line that is not a comment has the names of our rows' columns: not
/// those of samples or of verdicts.
[[nodiscard]] bool is_csv(const std::string& path);

/// The launches of a file, one of a CSV; `reading` is for logs. Throws Error (Usage) for
/// what cannot be read.
[[nodiscard]] std::vector<FileRows> read_launches(const std::string& path,
                                                  const LogReading& reading = {});

/// The same of a file that is one launch. Throws Error (Usage) for a log of several.
[[nodiscard]] FileRows read_launch(const std::string& path);

}  // namespace busbar::study
