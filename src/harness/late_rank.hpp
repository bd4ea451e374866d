// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "format/writer.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// Names who holds up the others in a row: a host of several, and a rank, each where it is last so
/// often that chance does not explain it (find_last). Samples in which the ranks are less
/// than a hundredth of the row's time apart are left out. Pure.
void name_last(Row& row, const RunContext& context);

/// Finds the one that is last far more often than by chance. `last` has the number of the one
/// that was last, sample by sample in their order; `chances` what each one's share would be if none
/// were late, at least one above 0. Its share must be beyond its chance by a binomial test that
/// allows for the number of those tested at once, and beyond the runner-up's by another; both count
/// independent samples only (their autocorrelation). Nothing where none stands out.
[[nodiscard]] std::optional<int> find_last(std::span<const int> last,
                                           std::span<const double> chances);

}  // namespace busbar
