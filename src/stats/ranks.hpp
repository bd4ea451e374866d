// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace busbar::stats {

/// Ranks 1..n less their mean (n + 1) / 2, in the samples' order; equal samples share their
/// mid-rank.
[[nodiscard]] std::vector<double> centered_ranks(std::span<const double> samples);

}  // namespace busbar::stats
