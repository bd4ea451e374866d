// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/hostlist.hpp"
#include "base/lists.hpp"
#include "judge/fleet/low_paths.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

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
