// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "model/collective.hpp"
#include "topo/predict/cluster.hpp"

namespace busbar::topo {

/// The time of an operation with one algorithm and protocol: a fixed part, and one that grows with
/// the size.
struct Schedule {
  double fixed_us = 0;
  double us_per_byte = 0;

  [[nodiscard]] double time_us(double bytes) const { return fixed_us + us_per_byte * bytes; }
};

[[nodiscard]] Algorithm algorithm_of(Sending sending);
/// True for what all-to-all, gather, scatter and send-receive use; rings stand for it in a list of
/// algorithms.
[[nodiscard]] bool is_direct(Sending sending);

/// A ringed collective on a set with these limits and step times; nothing where it cannot be sent
/// so. Formulas: docs/simulation.md.
[[nodiscard]] std::optional<Schedule> schedule(const Collective& collective, Sending sending,
                                               const SetLimits& limits, const StepTimes& times);

/// Time of a step between two devices of a host over a kind of link.
[[nodiscard]] double step_us(const StepTimes& times, LinkKind kind);

/// What limits an algorithm on a set, as Bound::limit: the ring through all ranks, the links of a
/// host, or what leads out of it.
[[nodiscard]] const std::string& bottleneck(Algorithm algorithm, const SetLimits& limits);

/// An operation in which every rank sends straight to those whom it has data for.
struct Exchange {
  double seconds = 0;   ///< for a GB of its size
  std::string limit{};  ///< as Bound::limit
};

/// Who sends how much to whom in an exchange, as far as the movement leaves it open.
struct Routed {
  int root = 0;                      ///< a rank
  const Traffic* traffic = nullptr;  ///< of an all-to-all of unequal parts
};

/// By the link with the most data for its rate, in a host or between hosts. Nothing where a pair
/// has no route.
[[nodiscard]] std::optional<Exchange> exchange(Movement movement, const Routed& routed,
                                               const Cluster& cluster, const RankSet& set,
                                               const SetLimits& limits,
                                               const BoundOptions& options);

}  // namespace busbar::topo
