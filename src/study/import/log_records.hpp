// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/record.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// "key: value" lines for the head of a CSV.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// What the user knows and a log may not have.
struct LogHints {
  std::string collective{};
  std::optional<int> ranks{};
  std::optional<int> nodes{};
};

/// Logs as records of ours.
struct ImportedRows {
  std::vector<Record> records{};
  Facts facts{};  ///< for the CSV's head
  std::vector<std::string> warnings{};
};

/// Converts: size by our meaning, bus bandwidth from size, time and ranks, as near to the printed
/// one as its digits allow. Throws Error (Usage) naming the option where a collective or a number
/// of ranks is neither in the log nor given.
[[nodiscard]] ImportedRows records_of(std::span<const LogFile> logs, const LogHints& hints);

}  // namespace busbar::study
