// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <cmath>
#include <limits>

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

/// Values of pairs of nodes that count, all or those of one node.
std::vector<double> values_of(std::span<const PairValue> pairs, const std::vector<bool>& active,
                              std::optional<std::size_t> node = {}) {
  std::vector<double> values;
  for (const PairValue& pair : pairs) {
    const bool wanted = !node || pair.first == *node || pair.second == *node;
    if (wanted && counts(pair, active)) values.push_back(*pair.value);
  }
  return values;
}

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

std::optional<std::size_t> worst_row(std::span<const PairValue> pairs, const std::vector<bool>& low,
                                     const std::vector<bool>& active) {
  const std::vector<RowCount> rows = count_rows(pairs, low, active);
  std::optional<std::size_t> worst;
  for (std::size_t node = 0; node < rows.size(); ++node) {
    if (rows[node].is_effect() && (!worst || rows[node].is_worse(rows[*worst]))) worst = node;
  }
  return worst;
}

/// Blame of these nodes in this order, and of the links that stay low without them.
Blame describe(std::size_t nodes, std::span<const std::size_t> order,
               std::span<const PairValue> pairs, const std::vector<bool>& low) {
  Blame blame;
  std::vector<bool> active(nodes, true);
  for (const std::size_t node : order) {
    const RowCount row = count_rows(pairs, low, active)[node];
    const std::vector<double> values = values_of(pairs, active, node);
    blame.nodes.push_back({.node = node,
                           .low = row.low,
                           .pairs = row.pairs,
                           .median = values.empty() ? 0 : stats::median(values)});
    active[node] = false;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (low[i] && counts(pairs[i], active)) blame.links.push_back(pairs[i]);
  }
  return blame;
}

/// Standard error of a normal sample's median times sqrt(n), in standard deviations: sqrt(pi / 2).
constexpr double kMedianError = 1.2533;

bool is_low(double value, const FleetView& view, const OutlierRule& rule) {
  if (!(value < rule.fail_below * view.reference)) return false;
  // A scatter that comes of many slow values would hide all of them.
  return !view.homogeneous || view.spread.robust_z(value) < -rule.min_robust_z;
}

FleetView view_of(std::span<const double> values, const OutlierRule& rule) {
  if (values.empty()) return {};
  FleetView view{.spread = spread_of(values), .top = stats::percentile(values, 90)};
  view.homogeneous = view.spread.mad <= rule.max_fleet_mad * view.spread.median;
  view.reference = view.homogeneous ? view.spread.median : view.top;
  return view;
}

/// The nodes of pairs as they are removed one by one.
class PairTable {
 public:
  PairTable(std::size_t nodes, std::span<const PairValue> pairs, const OutlierRule& rule)
      : pairs_(pairs), rule_(rule), active_(nodes, true) {}

  [[nodiscard]] FleetView view() const {
    const std::vector<double> values = values_of(pairs_, active_);
    FleetView view = view_of(values, rule_);
    if (values.empty() || !view.homogeneous) return view;
    // Where most pairs are slow they are alike, and their MAD is small: 5 of 6 with 2 of 4 nodes.
    if (view.spread.median < rule_.fail_below * view.top &&
        view.spread.robust_z(view.top) > rule_.min_robust_z &&
        fast_pairs_join_few(rule_.fail_below * view.top)) {
      view.homogeneous = false;
      view.reference = view.top;
    }
    return view;
  }

  /// Per pair; in rows of removed nodes by the fraction alone.
  [[nodiscard]] std::vector<bool> low_in(const FleetView& view) const {
    std::vector<bool> low = below(rule_.fail_below * view.reference);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (counts(pairs_[i], active_)) low[i] = is_low(*pairs_[i].value, view, rule_);
    }
    return low;
  }

  /// Who is blamed, without those that the others acquit.
  [[nodiscard]] std::vector<std::size_t> blame() {
    std::vector<std::size_t> order;
    while (const auto node = next()) {
      order.push_back(*node);
      active_[*node] = false;
    }
    acquit(order);
    // The slow would be the fleet, and the few others its exception: nodes explain nothing.
    if (2 * order.size() > nodes_with_values()) {
      for (const std::size_t node : order) active_[node] = true;
      order.clear();
    }
    return order;
  }

 private:
  /// Are at least three quarters of the pairs among nodes that have a fast pair fast? Else, as with
  /// nodes of a rack, being fast is a matter of pairs, and slow nodes do not explain it.
  [[nodiscard]] bool fast_pairs_join_few(double level) const {
    std::vector<bool> fast(active_.size(), false);
    for (const PairValue& pair : pairs_) {
      if (!counts(pair, active_) || *pair.value < level) continue;
      fast[pair.first] = true;
      fast[pair.second] = true;
    }
    std::size_t all = 0;
    std::size_t reached = 0;
    for (const PairValue& pair : pairs_) {
      if (!counts(pair, active_) || !counts(pair, fast)) continue;
      ++all;
      if (*pair.value >= level) ++reached;
    }
    return 4 * reached >= 3 * all;
  }

  [[nodiscard]] std::vector<bool> below(double level) const {
    return mapped(pairs_,
                  [&](const PairValue& pair) { return has_value(pair) && *pair.value < level; });
  }

  /// The node with the lowest median, where that is an outlier of the medians.
  [[nodiscard]] std::optional<std::size_t> low_row() const {
    std::vector<double> medians;
    std::optional<std::size_t> lowest;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t node = 0; node < active_.size(); ++node) {
      const std::vector<double> values = values_of(pairs_, active_, node);
      if (values.empty()) continue;
      medians.push_back(stats::median(values));
      if (medians.back() >= least) continue;
      least = medians.back();
      lowest = node;
    }
    if (!lowest) return std::nullopt;
    const FleetView of_nodes{.spread = spread_of(medians), .reference = stats::median(medians)};
    if (!is_low(least, of_nodes, rule_)) return std::nullopt;
    // The median of two pairs of which one is low is not a row effect.
    const auto counted = count_rows(pairs_, below(rule_.fail_below * of_nodes.reference), active_);
    return counted[*lowest].is_effect() ? lowest : std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> next() const {
    const FleetView now = view();
    if (now.homogeneous) {
      if (const auto node = low_row()) return node;
    }
    return worst_row(pairs_, low_in(now), active_);
  }

  /// Are this node's pairs with the others, by the median and the MAD of the others', not low? At
  /// least half of them must be below the fraction, and their median beyond its own error.
  [[nodiscard]] bool is_acquitted(std::size_t node, const FleetSpread& others) const {
    std::vector<bool> with_it = active_;
    with_it[node] = true;
    const std::vector<double> values = values_of(pairs_, with_it, node);
    const std::size_t low =
        count_of(values, [&](double value) { return value < rule_.fail_below * others.median; });
    if (values.empty()) return false;
    const FleetSpread of_median{
        .median = others.median,
        .mad = others.mad * kMedianError / std::sqrt(static_cast<double>(values.size()))};
    return 2 * low < values.size() ||
           of_median.robust_z(stats::median(values)) >= -rule_.min_robust_z;
  }

  /// The 90th percentile of mere noise makes half of the pairs low, and the others are then those
  /// that were fast by chance. Every node that comes back makes them more like the fleet.
  void acquit(std::vector<std::size_t>& order) {
    for (bool changed = true; changed;) {
      const FleetSpread others = view().spread;
      if (others.median <= 0) return;  // they have no values among themselves
      const auto cleared =
          filtered(order, [&](std::size_t node) { return is_acquitted(node, others); });
      for (const std::size_t node : cleared) {
        active_[node] = true;
        std::erase(order, node);
      }
      changed = !cleared.empty();
    }
  }

  [[nodiscard]] std::size_t nodes_with_values() const {
    const std::vector<bool> all(active_.size(), true);
    std::size_t count = 0;
    for (std::size_t node = 0; node < all.size(); ++node) {
      if (!values_of(pairs_, all, node).empty()) ++count;
    }
    return count;
  }

  std::span<const PairValue> pairs_;
  const OutlierRule& rule_;
  std::vector<bool> active_;
};

}  // namespace

Blame blame_of(std::size_t nodes, std::span<const PairValue> pairs, const std::vector<bool>& low) {
  std::vector<bool> active(nodes, true);
  std::vector<std::size_t> order;
  while (const auto node = worst_row(pairs, low, active)) {
    order.push_back(*node);
    active[*node] = false;
  }
  return describe(nodes, order, pairs, low);
}

FleetSpread spread_of(std::span<const double> values) {
  const double median = stats::median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - median));
  return {.median = median, .mad = stats::median(deviations)};
}

double FleetSpread::robust_z(double value) const {
  if (value == median) return 0;
  return (value - median) /
         (stats::kMadScale * mad);  // a MAD of 0 gives an infinity of the right sign
}

FleetFinding judge_pairs(std::size_t nodes, std::span<const PairValue> pairs,
                         const OutlierRule& rule) {
  PairTable table(nodes, pairs, rule);
  const FleetView all = table.view();
  const std::vector<std::size_t> order = table.blame();
  FleetView rest = order.empty() ? all : table.view();
  if (rest.reference <= 0) rest = all;  // the others have no values
  FleetFinding finding{all, rest.homogeneous, table.low_in(rest)};
  finding.reference = rest.reference;
  finding.blame = describe(nodes, order, pairs, finding.low);
  return finding;
}

FleetFinding judge_members(std::span<const double> values, const OutlierRule& rule) {
  const auto finite = filtered(values, [](double value) { return std::isfinite(value); });
  const FleetView view = view_of(finite, rule);
  FleetFinding finding{view, view.homogeneous, std::vector<bool>(values.size(), false)};
  for (std::size_t member = 0; member < values.size(); ++member) {
    const double value = values[member];
    if (!std::isfinite(value) || !is_low(value, view, rule)) continue;
    finding.low[member] = true;
    finding.blame.nodes.push_back({.node = member, .low = 1, .pairs = 1, .median = value});
  }
  return finding;
}

}  // namespace busbar::judge
