// SPDX-License-Identifier: BSD-3-Clause
#include "model/matching.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/random.hpp"

namespace busbar {
namespace {

using Nodes = std::vector<std::size_t>;

/// Rounds of the circle method between players in a random order, in a random order.
std::vector<RoundOfPairs> matchings_of(const Nodes& players, std::size_t rounds,
                                       std::mt19937_64& random) {
  const Nodes order = shuffled_numbers(players.size(), random);
  std::vector<RoundOfPairs> drawn;
  for (const std::size_t number : shuffled_numbers(round_robin_rounds(players.size()), random)) {
    if (drawn.size() == rounds) break;
    RoundOfPairs& round = drawn.emplace_back();
    for (const auto& [first, second] : round_robin_round(players.size(), number)) {
      round.push_back(pair_of(players[order[first]], players[order[second]]));
    }
  }
  return drawn;
}

/// Matchings of nodes of different units of a level.
class UnitMatchings {
 public:
  UnitMatchings(Nodes members, const std::vector<std::size_t>& unit, std::mt19937_64& random)
      : members_(std::move(members)), unit_(unit), random_(random) {}

  /// Each node takes the one that stands half of the fleet away in an order by units: no unit meets
  /// itself unless it is more than half. Then random swaps of partners.
  [[nodiscard]] RoundOfPairs draw() {
    Nodes order = members_;
    shuffle(order, random_);
    std::map<std::size_t, std::size_t> rank;  // of units, at random: the order of their first nodes
    for (const std::size_t node : order) rank.emplace(unit_[node], rank.size());
    const std::size_t half = order.size() / 2;
    put_large_last(rank, half);
    std::ranges::stable_sort(order, {}, [&](std::size_t node) { return rank[unit_[node]]; });
    std::vector<NumberPair> pairs;
    for (std::size_t i = 0; i < half; ++i) pairs.push_back(pair_of(order[i], order[half + i]));
    const std::size_t swaps = 3 * half;
    for (std::size_t i = 0; half > 1 && i < swaps; ++i) swap_partners(pairs, i % half);
    for (std::size_t i = 0; i < half; ++i) mend(pairs, i);
    std::erase_if(pairs, [&](const NumberPair& pair) { return !is_allowed(pair); });
    taken_.insert(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  /// A unit of more than half of the nodes comes last: then each other node meets one of it, and
  /// who rests is of it.
  void put_large_last(std::map<std::size_t, std::size_t>& rank, std::size_t half) const {
    std::map<std::size_t, std::size_t> sizes;
    for (const std::size_t node : members_) ++sizes[unit_[node]];
    for (const auto& [unit, size] : sizes) {
      if (size > half) rank[unit] = rank.size();
    }
  }

  [[nodiscard]] bool is_allowed(const NumberPair& pair) const {
    return unit_[pair.first] != unit_[pair.second] && !taken_.contains(pair);
  }

  /// With a random other pair, where this makes neither worse. True where it was done.
  bool swap_partners(std::vector<NumberPair>& pairs, std::size_t which) {
    const std::size_t other = random_() % pairs.size();
    if (other == which) return false;
    NumberPair& one = pairs[which];
    NumberPair& two = pairs[other];
    const bool crossed = random_() % 2 == 0;
    const NumberPair first = pair_of(one.first, crossed ? two.first : two.second);
    const NumberPair second = pair_of(one.second, crossed ? two.second : two.first);
    if (!is_allowed(first) || !is_allowed(second)) return false;
    one = first;
    two = second;
    return true;
  }

  void mend(std::vector<NumberPair>& pairs, std::size_t which) {
    constexpr int kTries = 200;
    for (int i = 0; i < kTries && !is_allowed(pairs[which]); ++i) swap_partners(pairs, which);
  }

  Nodes members_;
  const std::vector<std::size_t>& unit_;
  std::mt19937_64& random_;
  std::set<NumberPair> taken_{};
};

class LevelMatchings {
 public:
  /// The groups of nodes that share their first `level` units.
  LevelMatchings(const std::vector<NodePath>& paths, std::size_t level, std::mt19937_64& random)
      : random_(random) {
    std::map<NodePath, Nodes> groups;
    std::map<NodePath, std::size_t> units;  // the parts of a group
    const bool narrowest = level == paths.front().size();
    for (std::size_t node = 0; node < paths.size(); ++node) {
      const auto begin = paths[node].begin();
      const auto at = [&](std::size_t length) {
        return NodePath(begin, begin + static_cast<std::ptrdiff_t>(length));
      };
      groups[at(level)].push_back(node);
      NodePath part = at(narrowest ? level : level + 1);
      // In the narrowest unit every node is a part of its own.
      unit_.push_back(narrowest ? node
                                : units.emplace(std::move(part), units.size()).first->second);
    }
    for (auto& [path, members] : groups) {
      if (narrowest) {
        plain_.push_back(std::move(members));
      } else {
        across_.emplace_back(std::move(members), unit_, random_);
      }
    }
  }

  [[nodiscard]] std::vector<RoundOfPairs> draw(std::size_t rounds) {
    std::vector<RoundOfPairs> drawn(rounds);
    const auto add = [&](std::size_t round, const RoundOfPairs& pairs) {
      drawn[round].insert(drawn[round].end(), pairs.begin(), pairs.end());
    };
    for (const Nodes& members : plain_) {
      const auto own = matchings_of(members, rounds, random_);
      for (std::size_t round = 0; round < own.size(); ++round) add(round, own[round]);
    }
    for (UnitMatchings& group : across_) {
      for (std::size_t round = 0; round < rounds; ++round) add(round, group.draw());
    }
    std::erase_if(drawn, [](const RoundOfPairs& round) { return round.empty(); });
    return drawn;
  }

 private:
  std::mt19937_64& random_;
  std::vector<std::size_t> unit_{};  ///< of each node at this level
  std::vector<Nodes> plain_{};
  std::vector<UnitMatchings> across_{};
};

/// The levels at which some two nodes meet, the narrowest first.
std::vector<std::size_t> levels_of(const std::vector<NodePath>& paths) {
  std::set<std::size_t> levels;
  std::vector<NodePath> sorted = paths;
  std::ranges::sort(sorted);  // neighbours share most
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    levels.insert(shared_units(sorted[i - 1], sorted[i]));
  }
  return {levels.rbegin(), levels.rend()};
}

}  // namespace

std::vector<RoundOfPairs> random_matchings(std::size_t nodes, std::size_t rounds,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return matchings_of(first_numbers<std::size_t>(nodes), rounds, random);
}

std::size_t shared_units(const NodePath& first, const NodePath& second) {
  return static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
}

std::vector<RoundOfPairs> level_matchings(const std::vector<NodePath>& paths, std::size_t rounds,
                                          std::uint64_t seed) {
  const std::vector<std::size_t> levels = levels_of(paths);
  if (levels.size() < 2) return random_matchings(paths.size(), rounds, seed);
  std::mt19937_64 random(seed);
  std::vector<RoundOfPairs> all;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    // Equal parts; what is left goes to the widest levels.
    const std::size_t later = levels.size() - 1 - i;
    const std::size_t share = (rounds + levels.size() - 1 - later) / levels.size();
    for (RoundOfPairs& round : LevelMatchings(paths, levels[i], random).draw(share)) {
      all.push_back(std::move(round));
    }
  }
  return all;
}

}  // namespace busbar
