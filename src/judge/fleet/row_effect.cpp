// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/row_effect.hpp"

#include <cmath>

#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

double median_of_row(std::size_t node, std::span<const PairValue> pairs) {
  std::vector<double> values;
  for (const PairValue& pair : pairs) {
    if (has_value(pair) && (pair.first == node || pair.second == node)) {
      values.push_back(*pair.value);
    }
  }
  return values.empty() ? 0 : stats::median(values);
}

bool is_worse(const RowCount& row, const RowCount& than) {
  return row.low > than.low || (row.low == than.low && row.pairs < than.pairs);
}

}  // namespace

bool has_value(const PairValue& pair) { return pair.value && std::isfinite(*pair.value); }

bool counts(const PairValue& pair, const std::vector<bool>& active) {
  return has_value(pair) && active[pair.first] && active[pair.second];
}

std::vector<RowCount> count_rows(std::span<const PairValue> pairs, const std::vector<bool>& low,
                                 const std::vector<bool>& active) {
  std::vector<RowCount> rows(active.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!counts(pairs[i], active)) continue;
    for (const std::size_t node : {pairs[i].first, pairs[i].second}) {
      ++rows[node].pairs;
      if (low[i]) ++rows[node].low;
    }
  }
  return rows;
}

std::optional<std::size_t> worst_row(std::span<const PairValue> pairs, const std::vector<bool>& low,
                                     const std::vector<bool>& active) {
  const std::vector<RowCount> rows = count_rows(pairs, low, active);
  std::optional<std::size_t> worst;
  for (std::size_t node = 0; node < rows.size(); ++node) {
    if (rows[node].is_effect() && (!worst || is_worse(rows[node], rows[*worst]))) worst = node;
  }
  return worst;
}

Blame describe(std::size_t nodes, std::span<const std::size_t> order,
               std::span<const PairValue> pairs, const std::vector<bool>& low) {
  Blame blame;
  std::vector<bool> active(nodes, true);
  for (const std::size_t node : order) {
    const RowCount row = count_rows(pairs, low, active)[node];
    blame.nodes.push_back(
        {.node = node, .low = row.low, .pairs = row.pairs, .median = median_of_row(node, pairs)});
    active[node] = false;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (low[i] && counts(pairs[i], active)) blame.links.push_back(pairs[i]);
  }
  return blame;
}

Blame blame_of(std::size_t nodes, std::span<const PairValue> pairs, const std::vector<bool>& low) {
  std::vector<bool> active(nodes, true);
  std::vector<std::size_t> order;
  while (const auto node = worst_row(pairs, low, active)) {
    order.push_back(*node);
    active[*node] = false;
  }
  return describe(nodes, order, pairs, low);
}

}  // namespace busbar::judge
