// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/record.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// What all rows of a table have in common once the log and the user were asked.
struct TableMeaning {
  const Collective* collective = nullptr;
  int ranks = 0;
  int nodes = 0;            ///< 0: unknown
  bool old_algbw = false;   ///< has_old_algbw
  bool part_sizes = false;  ///< its sizes are of one rank's part
};

/// Half a row as a record of ours.
[[nodiscard]] Record record_of(const LogTable& table, const LogRow& row, const LogHalf& half,
                               const TableMeaning& meaning);

/// The size by our meaning: nccl-tests' own.
[[nodiscard]] Bytes whole_size(const LogRow& row, const TableMeaning& meaning);

/// "key: value" lines for the head of a CSV.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The facts in logs: where they are from, tool, library, devices, hosts, command.
[[nodiscard]] Facts facts_of(std::span<const LogFile> logs);

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
