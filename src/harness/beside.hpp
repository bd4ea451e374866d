// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "harness/chunk.hpp"
#include "model/side_load.hpp"

namespace busbar {

/// One turn of a row and the load of --load beside: each by itself, and both together.
struct BesideTurn {
  double alone_us = 0;     ///< mean time of an operation
  double loaded_us = 0;    ///< the same beside the load
  double load_alone = 0;   ///< rate of the load of all ranks
  double load_beside = 0;  ///< the same beside operations
};

/// By how much they slow each other: medians over turns, of ratios within a turn, as the machine
/// may change from one to the next.
struct BesideEffect {
  double loaded_us = 0;
  double operation_slowdown = 0;
  std::optional<double> load_slowdown{};  ///< nothing where the load came to a halt in half of them
};
/// At least one turn.
[[nodiscard]] BesideEffect effect_of(std::span<const BesideTurn> turns);

/// Adds it to a row's record, whose size is known.
void add_effect(Record& record, const BesideEffect& effect, double bus_factor);

/// How long, and of how many operations a sample is.
struct BesidePlan {
  std::uint64_t batch = 1;
  double budget_s = 3;  ///< of all turns; a few are made at any rate
};

/// Measures a row's turns with its warm chunks. `load` is null on a rank that is in no group.
/// Throws what the load throws. Collective over the job.
[[nodiscard]] BesideEffect measure_beside(const RoundGroup& round_group, ChunkRunner& chunks,
                                          SideLoad* load, const BesidePlan& plan);

}  // namespace busbar
