// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/collective.hpp"
#include "model/record.hpp"
#include "study/import/log_table.hpp"

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

}  // namespace busbar::study
