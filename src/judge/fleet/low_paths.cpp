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

using NodeCounts = std::map<std::size_t, LowCount>;

/// Pairs over a way through the fabric, and those of each node at its ends.
struct WayPairs {
  LowCount count{};
  NodeCounts first{};
  NodeCounts second{};  ///< none of an uplink

  [[nodiscard]] bool is_mostly_low() const {
    return count.all >= kFewestOver && 4 * count.low >= 3 * count.all;
  }
};

/// Whether so many nodes at an end are low over the way, and mostly not elsewhere.
bool is_low_end(const NodeCounts& end, std::size_t fewest, const NodeCounts& all) {
  std::size_t low_nodes = 0;
  LowCount elsewhere;
  for (const auto& [node, count] : end) {
    if (count.low == 0) continue;
    ++low_nodes;
    elsewhere += all.at(node).without(count);
  }
  return low_nodes >= fewest && (elsewhere.all == 0 || 2 * elsewhere.low < elsewhere.all);
}

class LowPaths {
 public:
  LowPaths(const std::vector<NodePath>& paths, std::span<const JudgedPair> pairs)
      : paths_(paths), pairs_(pairs) {}

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
  static constexpr std::size_t kFewestMembers = 3;  // of a unit, unless it has fewer

  /// Pairs that no path explains so far, by the units of a level.
  struct LevelPairs {
    std::map<NodePath, std::size_t> members{};
    std::map<NodePath, WayPairs> uplinks{};
    std::map<std::pair<NodePath, NodePath>, WayPairs> trunks{};
    NodeCounts all{};
  };

  [[nodiscard]] LevelPairs pairs_of(std::size_t length) const {
    const auto unit_of = [&](std::size_t node) {
      const NodePath& path = paths_[node];
      return NodePath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
    };
    LevelPairs level;
    for (std::size_t node = 0; node < paths_.size(); ++node) ++level.members[unit_of(node)];
    for (const JudgedPair& pair : pairs_) {
      if (crosses_any(paths_[pair.first], paths_[pair.second], found_)) continue;
      const std::pair one{unit_of(pair.first), pair.first};
      const std::pair other{unit_of(pair.second), pair.second};
      for (const auto& [unit, node] : {one, other}) {
        level.all[node].add(pair.low);
        if (one.first == other.first) continue;
        level.uplinks[unit].count.add(pair.low);
        level.uplinks[unit].first[node].add(pair.low);
      }
      if (one.first == other.first) continue;
      const auto& [low_end, high_end] = std::minmax(one, other);
      WayPairs& trunk = level.trunks[{low_end.first, high_end.first}];
      trunk.count.add(pair.low);
      trunk.first[low_end.second].add(pair.low);
      trunk.second[high_end.second].add(pair.low);
    }
    return level;
  }

  /// Adds the worst uplink, or all where all are low; false if there is none.
  bool find_uplinks(std::size_t length) {
    const LevelPairs level = pairs_of(length);
    std::vector<UnitFinding> low;
    for (const auto& [unit, way] : level.uplinks) {
      const std::size_t members = level.members.at(unit);
      const bool is_it = way.is_mostly_low() && members >= 2 &&
                         is_low_end(way.first, std::min(kFewestMembers, members), level.all);
      if (is_it) low.push_back({.unit = unit, .count = way.count});
    }
    if (low.empty()) return false;
    if (low.size() == 2 && level.uplinks.size() == 2) {
      low.front().other = low.back().unit;
      low.pop_back();
    } else if (low.size() < level.uplinks.size()) {
      low = {*std::ranges::max_element(low, {}, [](const auto& one) { return one.count.low; })};
    }
    append(found_, low);
    return true;
  }

  void find_trunks(std::size_t length) {
    const LevelPairs level = pairs_of(length);
    for (const auto& [units, way] : level.trunks) {
      const bool is_it = way.is_mostly_low() && is_low_end(way.first, kFewestMembers, level.all) &&
                         is_low_end(way.second, kFewestMembers, level.all);
      if (!is_it) continue;
      found_.push_back({.unit = units.first, .other = units.second, .count = way.count});
    }
  }

  const std::vector<NodePath>& paths_;
  std::span<const JudgedPair> pairs_;
  std::vector<UnitFinding> found_{};
};

// ---- a path that no level has -----------------------------------------------------------------

/// Nodes [first, end), and their pairs with others.
struct CutPart {
  std::size_t first = 0;
  std::size_t end = 0;
  LowCount across{};

  [[nodiscard]] bool has(std::size_t node) const { return first <= node && node < end; }
};

using Neighbors = std::vector<std::pair<std::size_t, bool>>;

struct CutCounts {
  LowCount across{};
  LowCount within{};  ///< the part
  LowCount all{};

  [[nodiscard]] bool is_alone() const { return across.low == all.low; }
  /// A third of its pairs where no others are low: so many bad cables of their own are unlikely.
  [[nodiscard]] bool is_cut() const {
    const LowCount others = all.without(across).without(within);
    const auto mostly_good = [](const LowCount& count) { return 4 * count.low <= count.all; };
    return across.low >= kFewestOver && (is_alone() ? 3 : 2) * across.low >= across.all &&
           mostly_good(within) && mostly_good(others);
  }
  [[nodiscard]] double chance() const {
    return stats::hypergeometric_tail(across.low, all.low, across.all, all.all);
  }
  /// A few pairs among many nodes have something in common in some order of them: `most` is the
  /// highest chance, but for a part whose pairs with the others are mostly there, and alone low.
  [[nodiscard]] bool is_clear(std::size_t whole, double most) const {
    return is_cut() && ((is_alone() && 2 * across.all >= whole) || chance() <= most);
  }
  /// The part [first, added) has a node more: `added`, with these neighbours, and whether low.
  void grow(std::size_t first, std::size_t added, const Neighbors& neighbors) {
    for (const auto& [node, low] : neighbors) {
      const bool inside = first <= node && node < added;
      if (inside) across = across.without({.low = low ? 1U : 0U, .all = 1});
      (inside ? within : across).add(low);
    }
  }
};

std::set<NumberPair> low_pairs_over(const CutPart& cut, std::span<const JudgedPair> pairs) {
  std::set<NumberPair> over;
  for (const auto& [first, second, low] : pairs) {
    if (low && cut.has(first) != cut.has(second)) over.insert({first, second});
  }
  return over;
}

std::optional<CutPart> clearest_part(std::size_t nodes, std::span<const JudgedPair> pairs,
                                     double chance) {
  constexpr std::size_t kMostNodes = 1024;  // it takes nodes times pairs
  constexpr std::size_t kFewestInPart = 2;
  std::vector<Neighbors> neighbors(nodes);
  CutCounts counts;
  for (const auto& [first, second, low] : pairs) {
    counts.all.add(low);
    neighbors[first].emplace_back(second, low);
    neighbors[second].emplace_back(first, low);
  }
  if (counts.all.low < kFewestOver || nodes > kMostNodes) return {};
  std::optional<CutPart> best;
  double least = 1;
  // The part without the first node; there are as many.
  const double cuts = static_cast<double>((nodes - 1) * (nodes - 2)) / 2;
  for (std::size_t first = 1; first + 1 < nodes; ++first) {
    counts.across = counts.within = {};
    for (std::size_t end = first + 1; end <= nodes; ++end) {
      counts.grow(first, end - 1, neighbors[end - 1]);
      const std::size_t part = end - first;
      if (part < kFewestInPart || nodes - part < kFewestInPart ||
          !counts.is_clear(part * (nodes - part), chance / cuts)) {
        continue;
      }
      const double p = counts.chance();
      const CutPart cut{first, end, counts.across};
      if ((best && p >= least) || is_by_one_node(low_pairs_over(cut, pairs))) continue;
      least = p;
      best = cut;
    }
  }
  return best;
}

bool is_level(const CutPart& part, const std::vector<NodePath>& paths) {
  std::set<std::pair<std::string, bool>> parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    parts.emplace(paths[i].empty() ? "" : paths[i].front(), part.has(i));
  }
  return parts.size() == 2 && parts.begin()->first != parts.rbegin()->first;
}

}  // namespace

std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                        std::span<const JudgedPair> pairs) {
  return LowPaths(paths, pairs).find();
}

std::optional<LowCut> find_cut(const std::vector<std::string>& nodes,
                               const std::vector<NodePath>& paths,
                               std::span<const JudgedPair> pairs, double chance) {
  const auto part = clearest_part(nodes.size(), pairs, chance);
  if (!part) return {};
  LowCut cut{.is_known = is_level(*part, paths)};
  std::array<std::vector<std::string>, 2> names;
  for (std::size_t i = 0; i < nodes.size(); ++i) names.at(part->has(i) ? 1 : 0).push_back(nodes[i]);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    cut.sides.push_back(
        {cut.is_known ? paths[i].front() : hostlist(names.at(part->has(i) ? 1 : 0))});
  }
  cut.path = {.unit = cut.sides.front(), .other = cut.sides[part->first], .count = part->across};
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
  for (const PairRate& pair : rates.pairs) launches[pair.launch].push_back(pair.log_rate);
  std::map<NumberPair, std::vector<double>> effects;
  for (const PairRate& pair : rates.pairs) {
    effects[pair_of(pair.first, pair.second)].push_back(
        pair.log_rate - stats::percentile(launches[pair.launch], kGood));
  }
  std::vector<JudgedPair> pairs;
  for (const auto& [both, values] : effects) {
    pairs.push_back({both.first, both.second, stats::median(values) <= std::log1p(-loss)});
  }
  auto cut = find_cut(nodes, rates.paths, pairs, kChance);
  if (!cut) return {};
  std::vector<double> across;
  for (const auto& [both, values] : effects) {
    if (cut->sides[both.first] != cut->sides[both.second]) across.push_back(stats::median(values));
  }
  cut->path.log_effect = stats::median(across);
  return cut;
}

}  // namespace busbar::judge
