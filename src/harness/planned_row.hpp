// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/group_plan.hpp"
#include "harness/options.hpp"

namespace busbar {

/// A row of the table before anything is measured; each group of its round has one.
struct PlannedRow {
  std::size_t position = 0;  ///< in the table
  std::size_t round = 0;     ///< of the plan of groups
  std::size_t sweep = 0;     ///< number of the sweep, of all of the table; of the group of a mix
  std::size_t size = 0;      ///< number of the size in it
  const Collective* collective = nullptr;
  Bytes wanted = 0;  ///< the size that was asked for
  DataType type = DataType::Float;
  ReduceOp op = ReduceOp::None;
  int root = 0;
  std::optional<Pair> pair{};  ///< of the group's ranks
  std::size_t variant = 0;     ///< number of the value of --vary
  bool in_place = false;
  bool together = false;   ///< with the others of a mix, or the load beside it
  std::uint64_t pass = 0;  ///< in which it is measured: its cycle or visit
};

/// All rows of a launch in the order of the table, the same on every rank: rounds, then sweeps
/// (types, operations, roots, directions), sizes, variants and placements. Throws a usage error
/// where they are too many.
[[nodiscard]] std::vector<PlannedRow> plan_rows(const Options& options,
                                                const Collective& collective,
                                                const GroupPlan& plan);

/// Positions in the order of a pass, a cycle or a visit: that of the table, or of visits a new one
/// each time, so that a row's number and the time are not confounded. Rounds, sweeps, sizes and
/// variants are shuffled within what they are part of.
[[nodiscard]] std::vector<std::size_t> order_of_pass(const Options& options,
                                                     std::span<const PlannedRow> rows,
                                                     std::uint64_t pass);

}  // namespace busbar
