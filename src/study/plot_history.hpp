// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "report/chart.hpp"
#include "study/plot_curves.hpp"

namespace busbar {

/// Seconds since 1970 of the head's "started", read as a calendar without time zones; empty where
/// it is no "YYYY-MM-DD HH:MM:SS".
[[nodiscard]] std::optional<double> started_at(const Dataset& dataset);

/// Median bus bandwidth at one size over the launches' starts, with a mark where a version of the
/// head changed. Without `size` the size that most launches have, and of those the largest. Empty
/// where no curve has two starts.
[[nodiscard]] Chart history_figure(std::vector<Dataset> datasets, PlotPlacement placement,
                                   std::optional<Bytes> size, std::optional<bool> logarithmic = {});

}  // namespace busbar
