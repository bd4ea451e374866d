// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/chunk.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// A row as one text without a line end, and back: the digits of samples are kept.
[[nodiscard]] std::string row_text(const Row& row);
[[nodiscard]] Row parse_row(std::string_view text);

/// The rows of all groups on rank 0 of the job, by their numbers; on others
/// nothing. Numbers arrive with the digits that files have. Collective over the job.
[[nodiscard]] std::vector<Row> gather_rows(const RoundGroup& round_group, const Row& mine);

}  // namespace busbar
