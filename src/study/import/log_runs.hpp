// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/import/log_records.hpp"

namespace busbar::study {

/// Runs of a log that give no row twice: a launch of one setting.
struct LogLaunch {
  std::string setting{};  ///< "NCCL_ALGO=Ring", "run2"; empty where no other setting is in the log
  int number = 1;         ///< of the launches of this setting
  LogFile log{};          ///< the log with their tables alone
};

/// The launches of a log: all of it where no two of its tests give the same row (model/row_key).
/// Else tests that give the same row are distinguished: by the variables, options, titles,
/// hosts and libraries in which they differ; where nothing in the log distinguishes them and no
/// command shows that they are repetitions, by their order. Throws what records_of throws.
[[nodiscard]] std::vector<LogLaunch> launches_of(const LogFile& log, const LogHints& hints);

/// "NCCL_ALGO=Ring, NCCL_ALGO=Tree (3 launches)", of the settings of all launches.
[[nodiscard]] std::string settings_text(std::span<const std::string> settings);

}  // namespace busbar::study
