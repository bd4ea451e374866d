// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "model/collective.hpp"
#include "topo/predict/limits.hpp"

namespace busbar::topo {

/// The time of an operation with one algorithm and protocol: a fixed part, and one that grows with
/// the size.
struct Schedule {
  double fixed_us = 0;
  double us_per_byte = 0;

  [[nodiscard]] double time_us(double bytes) const { return fixed_us + us_per_byte * bytes; }
};

[[nodiscard]] Algorithm algorithm_of(Sending sending);

/// A ringed collective on a set with these limits and step times; nothing where it cannot be sent
/// so. Formulas: docs/simulation.md.
[[nodiscard]] std::optional<Schedule> schedule(const Collective& collective, Sending sending,
                                               const SetLimits& limits, const StepTimes& times);

/// Time of a step between two devices of a host over a kind of link.
[[nodiscard]] double step_us(const StepTimes& times, LinkKind kind);

}  // namespace busbar::topo
