// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/fleet/fleet.hpp"

namespace busbar::judge {

/// Has the pair a value that can be judged?
[[nodiscard]] bool has_value(const PairValue& pair);

/// Has the pair a value, and do both of its nodes count?
[[nodiscard]] bool counts(const PairValue& pair, const std::vector<bool>& active);

/// Of a node's pairs with nodes that count.
struct RowCount {
  std::size_t low = 0;
  std::size_t pairs = 0;

  /// Low by at least half and by two.
  [[nodiscard]] bool is_effect() const { return low >= 2 && 2 * low >= pairs; }
};

/// The count of every node; nodes that do not count have none.
[[nodiscard]] std::vector<RowCount> count_rows(std::span<const PairValue> pairs,
                                               const std::vector<bool>& low,
                                               const std::vector<bool>& active);

/// The node with the largest row effect.
[[nodiscard]] std::optional<std::size_t> worst_row(std::span<const PairValue> pairs,
                                                   const std::vector<bool>& low,
                                                   const std::vector<bool>& active);

/// Blame of these nodes in this order, and of the links that stay low without them.
[[nodiscard]] Blame describe(std::size_t nodes, std::span<const std::size_t> order,
                             std::span<const PairValue> pairs, const std::vector<bool>& low);

}  // namespace busbar::judge
