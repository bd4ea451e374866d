// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/evidence.hpp"
#include "harness/job.hpp"
#include "harness/planned_row.hpp"
#include "model/record.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// Adds the bandwidths of the record's time, where it has one; `bus_factor` is of bus_factor_of.
void add_bandwidths(Record& record, double bus_factor);

/// What is known of a row of a group before anything is measured. Pure.
[[nodiscard]] Record blank_record(const Job& job, const PlannedRow& planned,
                                  const RankGroup& group);

/// The row of a group that its visits come to, of which there is one at least: statistics of all
/// samples, an interval of the run where there are several, flags of any. Pure.
[[nodiscard]] Row row_of(const Job& job, const PlannedRow& planned, const RankGroup& group,
                         std::span<const Evidence> visits);

/// Names who holds up the others in a row of these ranks: a host of several, and a rank, each where
/// it is last so often that chance does not explain it (find_last). Samples in which the ranks are
/// less than a hundredth of the row's time apart are left out. Pure.
void name_last(Row& row, const std::vector<int>& ranks, const RankMap& rank_map);

/// Finds the one that is last far more often than by chance. `last` has the number of the one
/// that was last, sample by sample in their order; `chances` what each one's share would be if none
/// were late, at least one above 0. Its share must be beyond its chance by a binomial test that
/// allows for the number of those tested at once, and beyond the runner-up's by another; both count
/// independent samples only (their autocorrelation). Nothing where none stands out.
[[nodiscard]] std::optional<int> find_last(std::span<const int> last,
                                           std::span<const double> chances);

}  // namespace busbar
