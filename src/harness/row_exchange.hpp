// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "harness/chunk.hpp"
#include "model/record.hpp"

namespace busbar {

/// A measured row and its samples.
struct Row {
  Record record{};
  std::vector<double> samples_us{};
};

/// The rows of all crews on rank 0 of the job, by the ranks of their leaders; on others nothing.
/// Numbers arrive with the digits that files have. Collective over the job.
[[nodiscard]] std::vector<Row> gather_rows(const Crew& crew, const Row& mine);

}  // namespace busbar
