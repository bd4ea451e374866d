// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/dataset.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"

namespace busbar::study {

/// The rows of one launch: of a CSV of ours, or of another tool's log.
struct FileRows {
  std::string setting{};  ///< "NCCL_ALGO=Ring": which of a log's launches, where it has several
  Dataset dataset{};
  std::vector<std::string> notes{};       ///< what was inferred of a log
  std::optional<int> gpus_per_process{};  ///< where a log names them
};

/// True for a file whose first line that is not a comment has the names of our columns.
[[nodiscard]] bool is_csv(const std::string& path);

/// The launches of a file, one of a CSV; hints and reading are for logs. Throws Error (Usage) for
/// what cannot be read.
[[nodiscard]] std::vector<FileRows> read_launches(const std::string& path,
                                                  const LogHints& hints = {},
                                                  const LogReading& reading = {});

/// The same of a file that is one launch. Throws Error (Usage) for a log of several.
[[nodiscard]] FileRows read_launch(const std::string& path);

}  // namespace busbar::study
