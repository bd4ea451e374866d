// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/writer.hpp"
#include "model/record.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// What the user knows and a log may not have.
struct LogHints {
  std::string collective{};
  std::optional<int> ranks{};
  std::optional<int> nodes{};
};

/// Why a log of one rank has no bus bandwidth.
inline constexpr std::string_view kOneRank =
    "one rank took part, so nothing was communicated (was it started with -g 1?)";

/// Logs as records of ours.
struct ImportedRows {
  std::vector<Record> records{};
  HeaderFacts facts{};  ///< for the CSV's head
  std::vector<std::string> warnings{};
};

/// Converts: size by our meaning, bus bandwidth from size, time and ranks, as near to the printed
/// one as its digits allow. Throws Error (Usage) naming the option where a collective or a number
/// of ranks is neither in the log nor given.
[[nodiscard]] ImportedRows records_of(std::span<const LogFile> logs, const LogHints& hints);

}  // namespace busbar::study
