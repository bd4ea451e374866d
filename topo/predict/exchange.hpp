// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "model/collective.hpp"
#include "topo/predict/limits.hpp"

namespace busbar::topo {

/// Seconds that a GB of an operation's size takes where every rank sends straight to those whom it
/// has data for: of the link with the most data for its rate, in a host or between hosts. `root` is
/// a rank. Nothing where a pair has no route.
[[nodiscard]] std::optional<double> exchange_seconds(Movement movement, int root,
                                                     const Cluster& cluster, const RankSet& set,
                                                     const SetLimits& limits,
                                                     const BoundOptions& options);

}  // namespace busbar::topo
