// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/lists.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFewestPairs = 4;  // for an offset of a level
constexpr std::size_t kFewestUnits = 3;  // of two it is unknown which uplink it is
constexpr std::size_t kFewestNodes = 3;  // of a unit: fewer are "a node or its uplink"

struct RatedPair {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t launch = 0;
  std::size_t level = 0;  ///< units that both share
  double value = 0;       ///< log rate, less the effects of blamed units
  double residual = 0;    ///< and less what a healthy pair has
};

double loss_log(double loss) { return std::log1p(-loss); }

/// The units of one level: each node's, by number.
struct Units {
  std::vector<NodePath> names{};
  std::vector<std::size_t> of_node{};
};

Units units_of(const std::vector<NodePath>& paths, std::size_t length) {
  Units units;
  std::map<NodePath, std::size_t> numbers;
  for (const NodePath& path : paths) {
    const NodePath name(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
    const auto [found, is_new] = numbers.emplace(name, numbers.size());
    if (is_new) units.names.push_back(name);
    units.of_node.push_back(found->second);
  }
  return units;
}

class Screener {
 public:
  Screener(const FleetRates& rates, const ScreenLimits& limits)
      : rates_(rates),
        limits_(limits),
        nodes_(rates.paths.size()),
        blamed_(nodes_, false),
        suspects_(nodes_, false) {
    std::set<std::size_t> alive;
    const std::size_t depth = rates.paths.empty() ? 0 : rates.paths.front().size();
    for (const PairRate& pair : rates.pairs) {
      alive.insert({pair.first, pair.second});
      const std::size_t level = shared_units(rates.paths[pair.first], rates.paths[pair.second]);
      pairs_.push_back({pair.first, pair.second, pair.launch, level, pair.log_rate});
      widest_ = std::min(widest_, level);
    }
    for (std::size_t length = 1; length <= depth; ++length) {
      levels_.push_back(units_of(rates.paths, length));
    }
    alive_ = alive.size();
    found_.offsets.resize(depth + 1, 0);
    found_.centers.resize(rates.launches, 0);
  }

  [[nodiscard]] Screening run() {
    if (pairs_.empty()) return std::move(found_);
    for (const bool clean : {false, true}) {  // then by a middle that bad ones have no part in
      center(clean);
      blame_units();
      blame_nodes();
    }
    find_links();
    plan_again();
    return std::move(found_);
  }

 private:
  using Values = std::vector<double>;

  [[nodiscard]] bool is_clean(const RatedPair& pair) const {
    return !suspects_[pair.first] && !suspects_[pair.second];
  }

  // ---- the middle -----------------------------------------------------------------------------

  /// What a healthy pair has: of each launch, and beside it of each level. At first the upper
  /// quartile, which bad pairs hardly reach, and of nodes the median: a median of nodes stands half
  /// of them, one of their pairs fewer than a third.
  void center(bool clean) {
    std::vector<Values> launches(rates_.launches);
    for (const RatedPair& pair : pairs_) {
      const bool counts = pair.level == widest_ && (!clean || is_clean(pair));
      if (counts) launches[pair.launch].push_back(pair.value);
    }
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
      if (!launches[launch].empty()) found_.centers[launch] = middle(launches[launch], clean);
    }
    center_levels(clean);
    take_residuals();
    if (!clean) center_on_nodes();
  }

  static double middle(const Values& values, bool clean) {
    return clean ? stats::median(values) : stats::percentile(values, 75);
  }

  void center_levels(bool clean) {
    std::vector<Values> levels(found_.offsets.size());
    for (const RatedPair& pair : pairs_) {
      const bool counts = pair.level != widest_ && (!clean || is_clean(pair));
      if (counts) levels[pair.level].push_back(pair.value - found_.centers[pair.launch]);
    }
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const Values& values = levels[level];
      if (values.size() >= kFewestPairs) found_.offsets[level] = middle(values, clean);
    }
  }

  void center_on_nodes() {
    const std::vector<Values> effects = effects_by_launch();
    for (std::size_t launch = 0; launch < found_.centers.size(); ++launch) {
      Values of_nodes;
      for (const Values& node : effects) {
        if (!std::isnan(node[launch])) of_nodes.push_back(node[launch]);
      }
      if (!of_nodes.empty()) found_.centers[launch] += stats::median(of_nodes);
    }
    take_residuals();
  }

  void take_residuals() {
    for (RatedPair& pair : pairs_) {
      pair.residual = pair.value - found_.centers[pair.launch] - found_.offsets[pair.level];
    }
  }

  // ---- uplinks --------------------------------------------------------------------------------

  void subtract(const UnitFinding& unit, double effect) {
    for (RatedPair& pair : pairs_) {
      if (!crosses(rates_.paths[pair.first], rates_.paths[pair.second], unit)) continue;
      pair.value -= effect;
      pair.residual -= effect;
    }
  }

  void blame_units() {
    for (const UnitFinding& unit : found_.units) subtract(unit, -unit.log_effect);
    found_.units.clear();
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const bool is_repeated = level > 0 && levels_[level].of_node == levels_[level - 1].of_node;
      const std::size_t units = levels_[level].names.size();
      if (is_repeated || units < kFewestUnits) continue;
      for (std::size_t count = 0; 2 * count < units; ++count) {
        const auto unit = lowest_uplink(levels_[level]);
        if (!unit) break;
        subtract(*unit, unit->log_effect);
        found_.units.push_back(*unit);
      }
      blame_trunks(levels_[level]);
    }
  }

  /// One unit's pairs with others.
  struct Crossing {
    std::vector<Values> by_launch{};
    std::map<std::size_t, Values> by_node{};  ///< of the unit
  };

  /// The unit whose pairs with others are lowest, where they are low beyond chance.
  [[nodiscard]] std::optional<UnitFinding> lowest_uplink(const Units& level) const {
    const double low = loss_log(limits_.unit_loss);
    std::vector<Crossing> crossing(level.names.size());
    for (Crossing& each : crossing) each.by_launch.resize(rates_.launches);
    LowCount all;
    for (const RatedPair& pair : pairs_) {
      const std::size_t first = level.of_node[pair.first];
      const std::size_t second = level.of_node[pair.second];
      if (first == second) continue;
      all.add(pair.residual <= low);
      for (const auto& [unit, node] :
           {std::pair(first, pair.first), std::pair(second, pair.second)}) {
        crossing[unit].by_launch[pair.launch].push_back(pair.residual);
        crossing[unit].by_node[node].push_back(pair.residual);
      }
    }
    std::optional<UnitFinding> lowest;
    for (std::size_t unit = 0; unit < crossing.size(); ++unit) {
      auto finding = uplink_of(crossing[unit], all, level.names.size());
      if (!finding || (lowest && lowest->log_effect <= finding->log_effect)) continue;
      finding->unit = level.names[unit];
      lowest = std::move(finding);
    }
    return lowest;
  }

  /// The share of low ones among all but these, which is never 0.
  [[nodiscard]] static double share_without(const LowCount& all, const LowCount& part) {
    const LowCount others = all.without(part);
    return (static_cast<double>(others.low) + 1) / (static_cast<double>(others.all) + 2);
  }
  /// The chance of as many low ones or more.
  [[nodiscard]] static double chance(const LowCount& count, double share) {
    return stats::binomial_tail(static_cast<double>(count.low), static_cast<double>(count.all),
                                share);
  }

  /// Most of its nodes must be low: two slow nodes of four are no uplink.
  [[nodiscard]] std::optional<UnitFinding> uplink_of(const Crossing& crossing, const LowCount& all,
                                                     std::size_t units) const {
    constexpr double kMostNodes = 75;
    const double low = loss_log(limits_.unit_loss);
    if (crossing.by_node.size() < kFewestNodes) return {};
    Values nodes;
    for (const auto& [node, values] : crossing.by_node) nodes.push_back(stats::median(values));
    if (stats::percentile(nodes, kMostNodes) > low) return {};
    Values values;
    LowCount own;
    std::vector<LowCount> launches;
    for (const Values& launch : crossing.by_launch) {
      if (launch.empty()) continue;
      if (stats::median(launch) > low) return {};
      append(values, launch);
      LowCount& count = launches.emplace_back();
      for (const double value : launch) count.add(value <= low);
      own += count;
    }
    const double share = share_without(all, own);
    double p = 0;
    for (const LowCount& launch : launches) p = std::max(p, chance(launch, share));
    if (p * static_cast<double>(units) > limits_.alarms * kUnitShare) return {};
    return UnitFinding{.log_effect = stats::median(values), .count = own};
  }

  /// Pairs of two units with each other, which may take a path of their own through the fabric.
  struct Trunk {
    Values values{};
    std::set<std::size_t> first{};  ///< nodes that are low
    std::set<std::size_t> second{};
    LowCount count{};
  };

  void blame_trunks(const Units& level) {
    const double low = loss_log(limits_.link_loss);
    std::map<std::pair<std::size_t, std::size_t>, Trunk> trunks;
    LowCount all;
    for (const RatedPair& pair : pairs_) {
      const std::size_t first = level.of_node[pair.first];
      const std::size_t second = level.of_node[pair.second];
      if (first == second) continue;
      const bool is_low = pair.residual <= low;
      Trunk& trunk = trunks[std::minmax(first, second)];
      trunk.values.push_back(pair.residual);
      trunk.count.add(is_low);
      all.add(is_low);
      if (!is_low) continue;
      trunk.first.insert(first < second ? pair.first : pair.second);
      trunk.second.insert(first < second ? pair.second : pair.first);
    }
    for (const auto& [key, trunk] : trunks) {
      // Fewer nodes may be slow by themselves.
      const bool few = std::min(trunk.first.size(), trunk.second.size()) < kFewestNodes;
      if (few || stats::median(trunk.values) > low) continue;
      const double p = chance(trunk.count, share_without(all, trunk.count));
      if (p * static_cast<double>(trunks.size()) > limits_.alarms * kUnitShare) continue;
      found_.units.push_back({.unit = level.names[key.first],
                              .other = level.names[key.second],
                              .log_effect = stats::median(trunk.values),
                              .count = trunk.count});
      subtract(found_.units.back(), found_.units.back().log_effect);
    }
  }

  // ---- nodes ----------------------------------------------------------------------------------

  /// Of each node and launch, without pairs with blamed others; NaN where there are none.
  [[nodiscard]] std::vector<Values> effects_by_launch() const {
    std::vector<std::vector<Values>> values(nodes_, std::vector<Values>(rates_.launches));
    for (const RatedPair& pair : pairs_) {
      if (!blamed_[pair.second]) values[pair.first][pair.launch].push_back(pair.residual);
      if (!blamed_[pair.first]) values[pair.second][pair.launch].push_back(pair.residual);
    }
    return mapped(values, [](const std::vector<Values>& launches) {
      return mapped(launches,
                    [](const Values& own) { return own.empty() ? kNone : upper_median(own); });
    });
  }

  static Values sorted_launches(const Values& effects) {
    Values launches = filtered(effects, [](double value) { return !std::isnan(value); });
    std::ranges::sort(launches);
    return launches;
  }

  void blame_nodes() {
    blamed_.assign(nodes_, false);
    found_.nodes.clear();
    while (2 * found_.nodes.size() < alive_) {
      std::vector<NodeFinding> candidates = low_nodes();
      const double most = limits_.alarms * kNodeShare;
      const NodeFinding* lowest = nullptr;
      for (NodeFinding& each : candidates) {
        each.blamed = each.expected <= most;
        if (each.blamed && (lowest == nullptr || each.log_effect < lowest->log_effect)) {
          lowest = &each;
        }
      }
      // In a small fleet one low node makes others low: the lowest is suspected alone at first.
      if (lowest == nullptr && nodes_ <= kSmallFleet && !candidates.empty()) {
        lowest = &*std::ranges::min_element(candidates, {}, &NodeFinding::log_effect);
      }
      if (lowest == nullptr) {
        append(found_.nodes, candidates);
        break;
      }
      blamed_[lowest->node] = true;
      found_.nodes.push_back(*lowest);
    }
    suspects_.assign(nodes_, false);
    for (const NodeFinding& each : found_.nodes) suspects_[each.node] = true;
    // Pairs of a blamed unit are low for its sake; that is subtracted only as well as it is known.
    found_.launch_effects = mapped(effects_by_launch(), sorted_launches);
    found_.has_value =
        mapped<bool>(found_.launch_effects, [](const Values& own) { return !own.empty(); });
  }

  /// Nodes that are not blamed and of which a healthy fleet would have one at most, by chance.
  [[nodiscard]] std::vector<NodeFinding> low_nodes() const {
    const double low = loss_log(limits_.node_loss);
    const std::vector<Values> effects = effects_by_launch();
    std::vector<Values> launches;
    Values reference;
    std::vector<bool> is_reference;
    for (std::size_t node = 0; node < nodes_; ++node) {
      launches.push_back(sorted_launches(effects[node]));
      const Values& own = launches.back();
      const bool counts = !own.empty() && !blamed_[node] && score(own) > low;
      is_reference.push_back(counts);
      if (counts) append(reference, own);
    }
    std::ranges::sort(reference);
    std::vector<NodeFinding> found;
    for (std::size_t node = 0; node < nodes_; ++node) {
      const Values& own = launches[node];
      if (own.empty() || blamed_[node] || stats::median(own) > low) continue;
      const std::size_t needed = launches_low(own.size());
      const auto end = std::ranges::upper_bound(reference, score(own));
      auto below = static_cast<std::size_t>(end - reference.begin());
      if (is_reference[node]) below -= std::min(below, needed);
      const double p = stats::precedence_p(below, reference.size(), own.size(), needed);
      const double expected = p * static_cast<double>(alive_);
      if (expected > 1) continue;
      found.push_back({.node = node, .log_effect = stats::median(own), .expected = expected});
    }
    return found;
  }

  /// The highest of the launches that must be low.
  static double score(const Values& sorted) { return sorted[launches_low(sorted.size()) - 1]; }

  // ---- links ----------------------------------------------------------------------------------

  /// Low pairs; of one that was measured several times the median. What a suspect costs its pairs
  /// is no defect of theirs; in a small fleet, where they have a turn anyway, the turn decides.
  void find_links() {
    const double low = loss_log(limits_.link_loss);
    const bool small = nodes_ <= kSmallFleet;
    std::vector<double> own(nodes_, 0);
    for (const NodeFinding& each : found_.nodes) own[each.node] = std::min(0.0, each.log_effect);
    std::map<NumberPair, Values> links;
    for (const RatedPair& pair : pairs_) {
      const bool blamed = blamed_[pair.first] || blamed_[pair.second];
      if (small || !blamed) links[pair_of(pair.first, pair.second)].push_back(pair.residual);
    }
    for (const auto& [nodes, values] : links) {
      const double effect = stats::median(values);
      const double explained = small ? 0 : std::min(own[nodes.first], own[nodes.second]);
      if (effect - explained <= low) found_.links.push_back({nodes.first, nodes.second, effect});
    }
  }

  /// As many launches as leave one value of good nodes below a suspect's without hiding it.
  void plan_again() {
    constexpr std::size_t kMost = 6;
    const std::size_t suspects = found_.nodes.size();
    if (nodes_ > kSmallFleet || suspects == 0 || suspects >= alive_) return;
    const double most = limits_.alarms * kNodeShare / 2;
    for (; found_.again < kMost; ++found_.again) {
      const std::size_t launches = found_.again;
      const double p =
          stats::precedence_p(1, (alive_ - suspects) * launches, launches, launches_low(launches));
      if (p * static_cast<double>(suspects) <= most) return;
    }
  }

  const FleetRates& rates_;
  const ScreenLimits& limits_;
  std::size_t nodes_;
  std::vector<bool> blamed_;                                      ///< of nodes
  std::vector<bool> suspects_;                                    ///< blamed or not
  std::size_t alive_ = 0;                                         ///< nodes with a value
  std::size_t widest_ = std::numeric_limits<std::size_t>::max();  ///< of the pairs' levels
  std::vector<RatedPair> pairs_{};
  std::vector<Units> levels_{};  ///< from the widest
  Screening found_{};
};

}  // namespace

double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Screening screen(const FleetRates& rates, const ScreenLimits& limits) {
  return Screener(rates, limits).run();
}

}  // namespace busbar::judge
