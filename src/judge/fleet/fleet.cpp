// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <cmath>

#include "base/lists.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

bool has_value(const PairValue& pair) { return pair.value && std::isfinite(*pair.value); }

/// Has the pair a value, and do both of its nodes count?
bool counts(const PairValue& pair, const std::vector<bool>& active) {
  return has_value(pair) && active[pair.first] && active[pair.second];
}

/// Counts of a node's pairs with nodes that count.
struct RowCount {
  std::size_t low = 0;
  std::size_t pairs = 0;

  /// Low by at least half and by two.
  [[nodiscard]] bool is_effect() const { return low >= 2 && 2 * low >= pairs; }
  [[nodiscard]] bool is_worse(const RowCount& than) const {
    return low > than.low || (low == than.low && pairs < than.pairs);
  }
};

/// The count of every node; nodes that do not count have none.
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

std::optional<BlamedNode> worst_row(std::span<const PairValue> pairs, const std::vector<bool>& low,
                                    const std::vector<bool>& active) {
  const std::vector<RowCount> rows = count_rows(pairs, low, active);
  std::optional<std::size_t> worst;
  for (std::size_t node = 0; node < rows.size(); ++node) {
    if (rows[node].is_effect() && (!worst || rows[node].is_worse(rows[*worst]))) worst = node;
  }
  if (!worst) return {};
  return BlamedNode{.node = *worst, .low = rows[*worst].low, .pairs = rows[*worst].pairs};
}

FleetSpread spread_of(std::span<const double> values) {
  const double median = stats::median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - median));
  return {.median = median, .mad = stats::median(deviations)};
}

}  // namespace

Blame blame_of(std::size_t nodes, std::span<const PairValue> pairs, const std::vector<bool>& low) {
  Blame blame;
  std::vector<bool> active(nodes, true);
  while (const auto worst = worst_row(pairs, low, active)) {
    blame.nodes.push_back(*worst);
    active[worst->node] = false;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (low[i] && counts(pairs[i], active)) blame.links.push_back(pairs[i]);
  }
  return blame;
}

bool is_of_fleet(const Blame& blame, std::size_t nodes, std::span<const PairValue> pairs,
                 const std::vector<bool>& low) {
  const std::size_t blamed = blame.nodes.size();
  std::vector<bool> bad(nodes, false);
  for (const BlamedNode& node : blame.nodes) bad[node.node] = true;
  bool is_clear = true;
  bool any_good = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!has_value(pairs[i])) continue;
    is_clear = is_clear && low[i] == (bad[pairs[i].first] || bad[pairs[i].second]);
    any_good = any_good || !low[i];
  }
  if (blamed == 0) return false;
  return !any_good || 2 * blamed > nodes || (2 * blamed == nodes && !is_clear);
}

double FleetSpread::robust_z(double value) const {
  if (value == median) return 0;
  return (value - median) /
         (stats::kMadScale * mad);  // a MAD of 0 gives an infinity of the right sign
}

FleetFinding judge_members(std::span<const double> values, const OutlierRule& rule) {
  const auto finite = filtered(values, [](double value) { return std::isfinite(value); });
  FleetFinding finding{.low = std::vector<bool>(values.size(), false)};
  if (finite.empty()) return finding;
  finding.spread = spread_of(finite);
  finding.homogeneous = finding.spread.mad <= rule.max_fleet_mad * finding.spread.median;
  finding.reference = finding.homogeneous ? finding.spread.median : stats::percentile(finite, 90);
  for (std::size_t member = 0; member < values.size(); ++member) {
    const double value = values[member];
    const bool below = value < rule.fail_below * finding.reference;  // NaN is not
    // A scatter that comes of many slow values would hide all of them.
    finding.low[member] =
        below && (!finding.homogeneous || finding.spread.robust_z(value) < -rule.min_robust_z);
  }
  return finding;
}

}  // namespace busbar::judge
