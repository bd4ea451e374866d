// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/hostlist.hpp"
#include "base/lists.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kFewestMembers = 3;  // of a unit, unless it has fewer

/// The pairs of a unit at one level.
struct UnitPairs {
  std::set<std::size_t> members{};
  LowCount across{};
  std::set<std::size_t> low_nodes{};         ///< of the unit, in low pairs with others
  std::map<std::size_t, LowCount> inside{};  ///< of each member

  /// Whether it is the way out that is low, and not its nodes.
  [[nodiscard]] bool is_low() const {
    const std::size_t fewest = std::min(kFewestMembers, members.size());
    if (!across.is_mostly_low() || members.size() < 2 || low_nodes.size() < fewest) return false;
    LowCount own;
    for (const std::size_t node : low_nodes) {
      const auto found = inside.find(node);
      if (found == inside.end()) continue;
      own.low += found->second.low;
      own.all += found->second.all;
    }
    return own.all == 0 || 2 * own.low < own.all;
  }
};

class LowPaths {
 public:
  LowPaths(const std::vector<NodePath>& paths, std::span<const PairValue> pairs,
           const std::vector<bool>& low)
      : paths_(paths), pairs_(pairs), low_(low) {}

  [[nodiscard]] std::vector<UnitFinding> find() {
    const std::size_t depth = paths_.empty() ? 0 : paths_.front().size();
    for (std::size_t length = 1; length <= depth; ++length) {
      while (find_uplinks(length)) {
      }
      find_trunks(length);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] NodePath unit_of(std::size_t node, std::size_t length) const {
    return {paths_[node].begin(), paths_[node].begin() + static_cast<std::ptrdiff_t>(length)};
  }

  [[nodiscard]] bool is_explained(const PairValue& pair) const {
    return any_has(found_, true, [&](const UnitFinding& path) {
      return crosses(paths_[pair.first], paths_[pair.second], path);
    });
  }

  [[nodiscard]] std::map<NodePath, UnitPairs> units_of(std::size_t length) const {
    std::map<NodePath, UnitPairs> units;
    for (std::size_t node = 0; node < paths_.size(); ++node) {
      units[unit_of(node, length)].members.insert(node);
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairValue& pair = pairs_[i];
      if (is_explained(pair)) continue;
      const NodePath first = unit_of(pair.first, length);
      const NodePath second = unit_of(pair.second, length);
      for (const auto& [path, node] :
           {std::pair(first, pair.first), std::pair(second, pair.second)}) {
        UnitPairs& unit = units[path];
        if (first == second) {
          unit.inside[node].add(low_[i]);
          continue;
        }
        unit.across.add(low_[i]);
        if (low_[i]) unit.low_nodes.insert(node);
      }
    }
    return units;
  }

  /// Adds the worst uplink, or all where all are low; false if there is none.
  bool find_uplinks(std::size_t length) {
    const std::map<NodePath, UnitPairs> units = units_of(length);
    std::vector<UnitFinding> low;
    std::size_t crossing = 0;
    for (const auto& [path, unit] : units) {
      if (unit.across.all > 0) ++crossing;
      if (!unit.is_low()) continue;
      low.push_back({.unit = path, .low = unit.across.low, .pairs = unit.across.all});
    }
    if (low.empty()) return false;
    if (low.size() == 2 && crossing == 2) {
      low.front().other = low.back().unit;
      low.pop_back();
    } else if (low.size() < crossing) {
      low = {*std::ranges::max_element(low, {}, &UnitFinding::low)};
    }
    append(found_, low);
    return true;
  }

  /// Pairs between two units.
  struct Trunk {
    LowCount count{};
    std::map<std::size_t, LowCount> first{};  ///< of each node
    std::map<std::size_t, LowCount> second{};
  };

  /// Whether several nodes of a unit are low over the trunk, and mostly not elsewhere.
  [[nodiscard]] static bool is_of_trunk(const std::map<std::size_t, LowCount>& side,
                                        const std::map<std::size_t, LowCount>& all) {
    std::size_t low_nodes = 0;
    LowCount elsewhere;
    for (const auto& [node, count] : side) {
      if (count.low == 0) continue;
      ++low_nodes;
      elsewhere.low += all.at(node).low - count.low;
      elsewhere.all += all.at(node).all - count.all;
    }
    return low_nodes >= kFewestMembers && (elsewhere.all == 0 || 2 * elsewhere.low < elsewhere.all);
  }

  void find_trunks(std::size_t length) {
    std::map<std::pair<NodePath, NodePath>, Trunk> trunks;
    std::map<std::size_t, LowCount> all;  // of each node
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairValue& pair = pairs_[i];
      if (is_explained(pair)) continue;
      all[pair.first].add(low_[i]);
      all[pair.second].add(low_[i]);
      NodePath first = unit_of(pair.first, length);
      NodePath second = unit_of(pair.second, length);
      if (first == second) continue;
      const bool swaps = second < first;
      if (swaps) std::swap(first, second);
      Trunk& trunk = trunks[{std::move(first), std::move(second)}];
      trunk.count.add(low_[i]);
      trunk.first[swaps ? pair.second : pair.first].add(low_[i]);
      trunk.second[swaps ? pair.first : pair.second].add(low_[i]);
    }
    for (const auto& [units, trunk] : trunks) {
      const bool is_it = trunk.count.is_mostly_low() && is_of_trunk(trunk.first, all) &&
                         is_of_trunk(trunk.second, all);
      if (!is_it) continue;
      found_.push_back({.unit = units.first,
                        .other = units.second,
                        .low = trunk.count.low,
                        .pairs = trunk.count.all});
    }
  }

  const std::vector<NodePath>& paths_;
  std::span<const PairValue> pairs_;
  const std::vector<bool>& low_;
  std::vector<UnitFinding> found_{};
};

// ---- a path that no level has -----------------------------------------------------------------

/// Nodes [first, end), and their pairs with others.
struct CutPart {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t low = 0;
  std::size_t pairs = 0;

  [[nodiscard]] bool has(std::size_t node) const { return first <= node && node < end; }
};

/// A node's pair.
struct Neighbor {
  std::size_t node = 0;
  bool low = false;
};

struct CutCounts {
  LowCount across{};
  LowCount within{};  ///< the part
  LowCount all{};

  [[nodiscard]] bool is_alone() const { return across.low == all.low; }
  /// A third of its pairs where no others are low: so many bad cables of their own are unlikely.
  [[nodiscard]] bool is_cut() const {
    const LowCount others{.low = all.low - across.low - within.low,
                          .all = all.all - across.all - within.all};
    const auto mostly_good = [](const LowCount& count) { return 4 * count.low <= count.all; };
    return across.low >= kFewestOver && (is_alone() ? 3 : 2) * across.low >= across.all &&
           mostly_good(within) && mostly_good(others);
  }
  [[nodiscard]] double chance() const {
    return stats::hypergeometric_tail(across.low, all.low, across.all, all.all);
  }
};

std::optional<CutPart> clearest_part(std::size_t nodes, std::span<const PairValue> pairs,
                                     const std::vector<bool>& low, double chance) {
  constexpr std::size_t kMostNodes = 1024;  // it takes nodes times pairs
  constexpr std::size_t kFewestInPart = 2;
  std::vector<std::vector<Neighbor>> neighbors(nodes);
  CutCounts counts;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].value) continue;
    counts.all.add(low[i]);
    neighbors[pairs[i].first].push_back({pairs[i].second, low[i]});
    neighbors[pairs[i].second].push_back({pairs[i].first, low[i]});
  }
  if (counts.all.low < kFewestOver || nodes > kMostNodes) return {};
  const auto low_pairs_over = [&](const CutPart& cut) {
    std::set<NumberPair> over;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto& [first, second, value] = pairs[i];
      if (value && low[i] && cut.has(first) != cut.has(second)) over.insert({first, second});
    }
    return over;
  };
  std::optional<CutPart> best;
  double least = 1;
  // The part without the first node; there are as many.
  const double cuts = static_cast<double>((nodes - 1) * (nodes - 2)) / 2;
  for (std::size_t first = 1; first + 1 < nodes; ++first) {
    counts.across = counts.within = {};
    for (std::size_t end = first + 1; end <= nodes; ++end) {
      const std::size_t added = end - 1;
      for (const Neighbor& each : neighbors[added]) {
        const bool inside = first <= each.node && each.node < added;
        if (inside) {
          --counts.across.all;
          if (each.low) --counts.across.low;
        }
        (inside ? counts.within : counts.across).add(each.low);
      }
      const std::size_t part = end - first;
      if (part < kFewestInPart || nodes - part < kFewestInPart) continue;
      const double p = counts.chance();
      // A few pairs among many nodes have something in common in some order of them.
      const bool is_sure = counts.is_alone() && 2 * counts.across.all >= part * (nodes - part);
      const bool is_one = counts.is_cut() && (is_sure || p * cuts <= chance);
      const CutPart cut{first, end, counts.across.low, counts.across.all};
      if (!is_one || (best && p >= least) || is_by_one_node(low_pairs_over(cut))) continue;
      least = p;
      best = cut;
    }
  }
  return best;
}

/// Whether the part and the others are the only two units of the widest level.
bool is_level(const CutPart& part, const std::vector<NodePath>& paths) {
  std::set<std::pair<std::string, bool>> parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    parts.emplace(paths[i].empty() ? "" : paths[i].front(), part.has(i));
  }
  return parts.size() == 2 && parts.begin()->first != parts.rbegin()->first;
}

}  // namespace

std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                        std::span<const PairValue> pairs,
                                        const std::vector<bool>& low) {
  return LowPaths(paths, pairs, low).find();
}

std::optional<LowCut> find_cut(const std::vector<std::string>& nodes,
                               const std::vector<NodePath>& paths, std::span<const PairValue> pairs,
                               const std::vector<bool>& low, double chance) {
  const auto part = clearest_part(nodes.size(), pairs, low, chance);
  if (!part) return {};
  LowCut cut{.is_known = is_level(*part, paths)};
  std::array<std::vector<std::string>, 2> names;
  for (std::size_t i = 0; i < nodes.size(); ++i) names.at(part->has(i) ? 1 : 0).push_back(nodes[i]);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    cut.sides.push_back(
        {cut.is_known ? paths[i].front() : hostlist(names.at(part->has(i) ? 1 : 0))});
  }
  cut.path = {.unit = cut.sides.front(),
              .other = cut.sides[part->first],
              .low = part->low,
              .pairs = part->pairs};
  return cut;
}

bool is_by_one_node(const std::set<NumberPair>& low) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [first, second] : low) {
    ++counts[first];
    ++counts[second];
  }
  return std::ranges::any_of(counts,
                             [&](const auto& one) { return 4 * one.second > 3 * low.size(); });
}

std::optional<LowCut> find_fleet_cut(const std::vector<std::string>& nodes, const FleetRates& rates,
                                     double loss) {
  constexpr double kChance = 0.001;
  constexpr double kGood = 75;  // a percentile: few pairs may be within the parts
  std::vector<std::vector<double>> launches(rates.launches);
  for (const PairRate& pair : rates.pairs) launches[pair.launch].push_back(*pair.log_rate);
  std::map<NumberPair, std::vector<double>> effects;
  for (const PairRate& pair : rates.pairs) {
    effects[pair_of(pair.first, pair.second)].push_back(
        *pair.log_rate - stats::percentile(launches[pair.launch], kGood));
  }
  std::vector<PairValue> pairs;
  std::vector<bool> low;
  for (const auto& [both, values] : effects) {
    pairs.push_back({both.first, both.second, stats::median(values)});
    low.push_back(*pairs.back().value <= std::log1p(-loss));
  }
  auto cut = find_cut(nodes, rates.paths, pairs, low, kChance);
  if (!cut) return {};
  std::vector<double> across;
  for (const PairValue& pair : pairs) {
    if (cut->sides[pair.first] != cut->sides[pair.second]) across.push_back(*pair.value);
  }
  cut->path.log_effect = stats::median(across);
  return cut;
}

}  // namespace busbar::judge
