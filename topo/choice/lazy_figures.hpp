// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "topo/choice/rater.hpp"

namespace busbar::topo {

/// Figures of sets that are upper bounds until they are asked for exactly; what solves one set
/// solves all that are alike.
class LazyFigures {
 public:
  /// The rater must outlive it.
  LazyFigures(const Rater& rater, std::vector<DeviceSet> sets);

  [[nodiscard]] const std::vector<DeviceSet>& sets() const { return sets_; }
  /// Exact, or never less than exact.
  [[nodiscard]] Figures now(std::size_t set) const;
  /// False where the figures of the set were exact before.
  bool solve(std::size_t set);

 private:
  /// One level's figures by groups of equal problems.
  struct Column {
    const RingRater* rater = nullptr;
    Groups groups{};
    std::vector<std::size_t> group_of{};
    std::vector<double> upper{};                 ///< of each group
    std::vector<std::optional<double>> exact{};  ///< of each group
  };

  [[nodiscard]] Column column_of(const RingRater& rater) const;
  [[nodiscard]] static double value(const Column& column, std::size_t set);
  bool solve(Column& column, std::size_t set);
  [[nodiscard]] double head_of(double figure);

  const Rater& rater_;
  std::vector<DeviceSet> sets_;
  Column first_;
  std::optional<Column> fallback_{};  ///< once a set was found that needs it
  std::vector<double> heads_{};       ///< one figure of each class
};

}  // namespace busbar::topo
