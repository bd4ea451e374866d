// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/lists.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

/// With most low pairs, then with the fewest others: at least two, and half of its own.
std::optional<BlamedNode> worst_node(std::size_t nodes, std::span<const JudgedPair> pairs) {
  std::vector<BlamedNode> rows;
  for (std::size_t node = 0; node < nodes; ++node) rows.push_back({.node = node});
  for (const JudgedPair& pair : pairs) {
    for (const std::size_t node : {pair.first, pair.second}) {
      rows[node].count.add(pair.low);
    }
  }
  std::erase_if(rows, [](const BlamedNode& row) {
    return row.count.low < 2 || 2 * row.count.low < row.count.all;
  });
  const auto is_worse = [](const LowCount& one, const LowCount& other) {
    return one.low > other.low || (one.low == other.low && one.all < other.all);
  };
  const auto worst = std::ranges::min_element(rows, is_worse, &BlamedNode::count);
  return worst == rows.end() ? std::nullopt : std::optional(*worst);
}

}  // namespace

Blame blame_of(std::size_t nodes, std::vector<JudgedPair> pairs) {
  Blame blame;
  while (const auto worst = worst_node(nodes, pairs)) {
    blame.nodes.push_back(*worst);
    std::erase_if(pairs, [node = worst->node](const JudgedPair& pair) {
      return pair.first == node || pair.second == node;
    });
  }
  for (const JudgedPair& pair : pairs) {
    if (pair.low) blame.links.emplace_back(pair.first, pair.second);
  }
  return blame;
}

bool is_of_fleet(const Blame& blame, std::size_t nodes, std::span<const JudgedPair> pairs) {
  const std::size_t blamed = blame.nodes.size();
  const auto bad = set_of(blame.nodes, &BlamedNode::node);
  const bool is_clear = std::ranges::all_of(pairs, [&](const JudgedPair& pair) {
    return pair.low == (bad.contains(pair.first) || bad.contains(pair.second));
  });
  if (blamed == 0) return false;
  return !any_has(pairs, false, &JudgedPair::low) || 2 * blamed > nodes ||
         (2 * blamed == nodes && !is_clear);
}

double FleetFinding::robust_z(double value) const {
  if (value == median) return 0;
  return (value - median) /
         (stats::kMadScale * mad);  // a MAD of 0 gives an infinity of the right sign
}

FleetFinding judge_members(std::span<const double> values, const Rule& rule) {
  const auto finite = filtered(values, [](double value) { return std::isfinite(value); });
  FleetFinding finding{.low = std::vector<bool>(values.size(), false)};
  if (finite.empty()) return finding;
  const double fail_below = rule.bounds.fail_below.value_or(0);
  const double median = finding.median = stats::median(finite);
  finding.mad =
      stats::median(mapped(finite, [&](double value) { return std::abs(value - median); }));
  finding.homogeneous = finding.mad <= rule.max_fleet_mad * median;
  finding.reference = finding.homogeneous ? median : stats::percentile(finite, 90);
  for (std::size_t member = 0; member < values.size(); ++member) {
    const double value = values[member];
    const bool below = value < fail_below * finding.reference;  // NaN is not
    // A scatter that comes of many slow values would hide all of them.
    finding.low[member] =
        below && (!finding.homogeneous || finding.robust_z(value) < -rule.min_robust_z);
  }
  return finding;
}

}  // namespace busbar::judge
