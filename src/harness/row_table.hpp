// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/group_plan.hpp"
#include "harness/options.hpp"
#include "harness/outputs.hpp"
#include "harness/row.hpp"

namespace busbar {

/// 0 to count - 1; where rows are visited, in a new order at each visit and `part`.
[[nodiscard]] std::vector<std::size_t> visiting_order(const Options& options, std::size_t count,
                                                      std::uint64_t visit, std::size_t part);

/// The rows of a launch in the order of the table, known before any rank is connected:
/// rounds, types, operations, roots or directions, sizes, placements.
class RowTable {
 public:
  /// All of them outlive it.
  RowTable(const Options& options, const Collective& collective, const GroupPlan& plan)
      : options_(options), collective_(collective), plan_(plan), sizes_(options.sweep.sizes()) {}

  /// The sweeps of a round in this pass, a cycle or a visit.
  [[nodiscard]] std::vector<SweepKey> sweeps(std::size_t round, std::uint64_t pass) const;
  /// Values of --vary; 1 without it.
  [[nodiscard]] std::size_t variants() const {
    return options_.vary ? options_.vary->values.size() : 1;
  }
  /// Where the rows of a size and variant of a sweep stand, by the size's number.
  [[nodiscard]] RowVisit place(const SweepKey& key, std::size_t size, bool in_place) const;
  /// The record of a row of one of its round's groups; null: of a rank that is in none.
  [[nodiscard]] Record blank(const SweepKey& key, const Footprint& footprint, Bytes wanted,
                             bool in_place, const RankGroup* group) const;
  /// What its rows are of, one of each group of the round.
  [[nodiscard]] std::vector<Row> blank_rows(const SweepKey& key, std::size_t size,
                                            bool in_place) const;

  /// True on every rank if a row of each group needs not be measured, which is shown then where an
  /// earlier run has it. Collective.
  [[nodiscard]] bool resume(Outputs& outputs, const SweepKey& key, std::size_t size,
                            bool in_place) const;
  /// True on every rank if that is so for all rows of a pass of a round; shows none. Collective.
  [[nodiscard]] bool is_done(Outputs& outputs, std::size_t round, std::uint64_t pass) const;
  /// Shows them. Collective.
  void resume_round(Outputs& outputs, std::size_t round, std::uint64_t pass) const;

 private:
  /// Calls `visit` with the sweep and variant, the size's number and the placement of each row of a
  /// round.
  template <class Visit>
  void for_each(std::size_t round, std::uint64_t pass, const Visit& visit) const;

  const Options& options_;
  const Collective& collective_;
  const GroupPlan& plan_;
  std::vector<Bytes> sizes_;
};

}  // namespace busbar
