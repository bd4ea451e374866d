// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/confirmation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "base/lists.hpp"
#include "base/random.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

using Nodes = std::vector<std::size_t>;

constexpr std::size_t kPartners = 8;  // of each suspect in a launch
constexpr std::size_t kFewestControls = 32;
constexpr std::size_t kControlsEach = 4;  // for each suspect
constexpr std::size_t kProbes = 8;        // nodes that stand for a unit
constexpr std::size_t kFewestControlLinks = 12;

bool is_of_unit(const NodePath& path, const NodePath& unit) {
  return path.size() >= unit.size() && std::equal(unit.begin(), unit.end(), path.begin());
}

/// Draws rounds for what a screening suspects.
class Rounds {
 public:
  Rounds(const Screening& screening, const std::vector<NodePath>& paths, std::uint64_t seed,
         std::size_t launch)
      : screening_(screening),
        paths_(paths),
        random_(splitmix64(seed + 1 + launch)),
        fixed_(splitmix64(seed)) {
    std::vector<bool> bad(paths.size(), false);
    for (const std::size_t node : screening.dead) bad[node] = true;
    for (const NodeFinding& each : screening.nodes) bad[each.node] = true;
    for (std::size_t node = 0; node < screening.log_effects.size(); ++node) {
      if (!bad[node] && !std::isnan(screening.log_effects[node])) good_.push_back(node);
    }
    for (const LinkFinding& link : screening.links) {
      links_.insert(pair_of(link.first, link.second));
    }
  }

  [[nodiscard]] std::vector<NumberedRound> draw() {
    std::vector<NumberedRound> drawn;
    const bool none = screening_.nodes.empty() && screening_.units.empty() && links_.empty();
    if (good_.empty() || none) return drawn;
    const auto add = [&](std::size_t first, std::vector<RoundOfPairs> rounds) {
      for (RoundOfPairs& round : rounds) drawn.push_back({first++, std::move(round)});
    };
    if (paths_.size() <= kSmallFleet) {
      add(0, fleet_rounds(paths_, paths_.size(), random_()));
      return drawn;
    }
    std::vector<RoundOfPairs> of_nodes;
    draw_nodes(of_nodes);
    add(0, std::move(of_nodes));
    std::vector<RoundOfPairs> of_links;
    if (!links_.empty()) draw_links(of_links);
    add(kFirstLinkRound, std::move(of_links));
    return drawn;
  }

 private:
  /// Pairs over a blamed uplink show the uplink.
  [[nodiscard]] bool crosses_blamed(std::size_t first, std::size_t second) const {
    return std::ranges::any_of(screening_.units, [&](const UnitFinding& unit) {
      return crosses(paths_[first], paths_[second], unit);
    });
  }

  /// A good node that is free and `fits`, at random; one that `node` has not met if there is any.
  template <class Fits>
  bool pair_up(std::size_t node, RoundOfPairs& round, const Fits& fits) {
    const std::size_t start = random_() % good_.size();
    std::optional<std::size_t> partner;
    for (std::size_t i = 0; i < good_.size(); ++i) {
      const std::size_t other = good_[(start + i) % good_.size()];
      const NumberPair pair = pair_of(node, other);
      if (other == node || used_.contains(other) || links_.contains(pair) || !fits(other)) continue;
      if (!partner) partner = other;
      if (met_.contains(pair)) continue;
      partner = other;
      break;
    }
    if (!partner) return false;
    round.push_back(pair_of(node, *partner));
    met_.insert(round.back());
    used_.insert({node, *partner});
    return true;
  }

  void draw_nodes(std::vector<RoundOfPairs>& rounds) {
    Nodes suspects = mapped<std::size_t>(screening_.nodes, &NodeFinding::node);
    if (suspects.empty() && screening_.units.empty()) return;
    std::map<std::size_t, std::size_t> met;  // partners of each suspect so far
    const std::size_t turns = suspects.size() / good_.size() + 1;
    // All that is tested, links too, shares the alarms.
    const std::size_t wanted_controls =
        std::max(kFewestControls, kControlsEach * (suspects.size() + links_.size()));
    for (std::size_t number = 0; number < kPartners * turns; ++number) {
      RoundOfPairs round;
      used_.clear();
      shuffle(good_, random_);
      shuffle(suspects, random_);
      std::ranges::stable_sort(suspects, {}, [&](std::size_t node) { return met[node]; });
      for (const std::size_t node : suspects) {
        const auto fits = [&](std::size_t other) { return !crosses_blamed(node, other); };
        if (met[node] < kPartners && pair_up(node, round, fits)) ++met[node];
      }
      for (const UnitFinding& unit : screening_.units) probe(unit, round);
      add_controls(round, wanted_controls / 2);
      rounds.push_back(std::move(round));
    }
  }

  /// Some good nodes of a unit, with others outside.
  void probe(const UnitFinding& unit, RoundOfPairs& round) {
    Nodes own =
        filtered(good_, [&](std::size_t node) { return is_of_unit(paths_[node], unit.unit); });
    shuffle(own, random_);
    own.resize(std::min(own.size(), kProbes));
    for (const std::size_t node : own) {
      if (used_.contains(node)) continue;
      pair_up(node, round, [&](std::size_t other) {
        if (!unit.other.empty()) return is_of_unit(paths_[other], unit.other);
        const auto is_in = [&](const UnitFinding& each) {
          return is_of_unit(paths_[other], each.unit);
        };
        return std::ranges::none_of(screening_.units, is_in);
      });
    }
  }

  void add_controls(RoundOfPairs& round, std::size_t most) {
    Nodes free = filtered(good_, [&](std::size_t node) { return !used_.contains(node); });
    shuffle(free, random_);
    std::size_t count = 0;
    for (const std::size_t node : free) {
      if (count == most) return;
      if (used_.contains(node)) continue;
      const auto fits = [&](std::size_t other) { return !crosses_blamed(node, other); };
      if (pair_up(node, round, fits)) ++count;
    }
  }

  /// Disjoint ones at a time, each round after round, and good pairs that are fixed for all
  /// launches beside them; more of those where the fleet is small.
  void draw_links(std::vector<RoundOfPairs>& rounds) {
    std::vector<NumberPair> left(links_.begin(), links_.end());
    std::set<NumberPair> controls;
    const std::size_t wanted = std::max(kFewestControls, 2 * links_.size());
    bool grows = true;
    while (!left.empty() || (controls.size() < kFewestControlLinks && grows)) {
      RoundOfPairs batch;
      std::set<std::size_t> used;
      const auto take = [&](const NumberPair& pair) {
        if (used.contains(pair.first) || used.contains(pair.second)) return false;
        used.insert({pair.first, pair.second});
        batch.push_back(pair);
        return true;
      };
      std::erase_if(left, take);
      const std::size_t links = batch.size();
      for (const NumberPair& pair : controls) {
        if (left.empty() && links == 0) break;  // new ones are wanted
        take(pair);
      }
      const std::size_t before = controls.size();
      add_control_links(batch, used, controls, wanted);
      grows = controls.size() > before;
      if (batch.empty()) break;
      rounds.insert(rounds.end(), kPartners, batch);
    }
  }

  void add_control_links(RoundOfPairs& batch, std::set<std::size_t>& used,
                         std::set<NumberPair>& controls, std::size_t wanted) {
    Nodes free = filtered(good_, [&](std::size_t node) { return !used.contains(node); });
    std::ranges::sort(free);  // not as earlier rounds left them
    shuffle(free, fixed_);
    while (free.size() > 1 && controls.size() < wanted) {
      const std::size_t node = free.back();
      free.pop_back();
      const auto other = std::ranges::find_if(free, [&](std::size_t each) {
        const NumberPair pair = pair_of(node, each);
        return !links_.contains(pair) && !controls.contains(pair) && !crosses_blamed(node, each);
      });
      if (other == free.end()) continue;
      batch.push_back(pair_of(node, *other));
      controls.insert(batch.back());
      free.erase(other);
    }
  }

  const Screening& screening_;
  const std::vector<NodePath>& paths_;
  std::mt19937_64 random_;
  std::mt19937_64 fixed_;  ///< the same in all launches
  Nodes good_{};
  std::set<NumberPair> links_{};
  std::set<std::size_t> used_{};  ///< in this round
  std::set<NumberPair> met_{};    ///< in this launch
};

using Values = std::vector<double>;

/// Values of what is tested and of what it is compared with, by launch.
struct Trials {
  std::map<NumberPair, std::vector<Values>> tested{};  ///< a node is a pair with itself
  std::map<NumberPair, std::vector<Values>> controls{};
};

/// What a test says of one: its effect, and how many of all that are tested would be as low.
struct Retest {
  double log_effect = 0;
  double expected = 1;
};

class Retests {
 public:
  Retests(const Trials& trials, std::size_t launches, std::size_t tests)
      : launches_(launches), tests_(static_cast<double>(tests)), centers_(launches, 0) {
    for (std::size_t launch = 0; launch < launches; ++launch) {
      Values middles;
      for (const auto& [nodes, values] : trials.controls) {
        if (!values[launch].empty()) middles.push_back(upper_median(values[launch]));
      }
      if (middles.empty()) continue;
      centers_[launch] = stats::median(middles);
      for (const double middle : middles) reference_.push_back(middle - centers_[launch]);
    }
    std::ranges::sort(reference_);
  }

  [[nodiscard]] std::optional<Retest> of(const std::vector<Values>& launches) const {
    Values effects;
    for (std::size_t launch = 0; launch < launches_; ++launch) {
      if (launches[launch].empty()) continue;
      effects.push_back(upper_median(launches[launch]) - centers_[launch]);
    }
    if (effects.empty()) return {};
    std::ranges::sort(effects);
    const std::size_t needed = launches_low(effects.size());
    const auto end = std::ranges::upper_bound(reference_, effects[needed - 1]);
    const double p = stats::precedence_p(static_cast<std::size_t>(end - reference_.begin()),
                                         reference_.size(), effects.size(), needed);
    return Retest{.log_effect = stats::median(effects), .expected = p * tests_};
  }

  [[nodiscard]] double center(std::size_t launch) const { return centers_[launch]; }

 private:
  std::size_t launches_;
  double tests_;
  Values centers_;
  Values reference_{};
};

class Judging {
 public:
  Judging(const Screening& screening, const FleetRates& again, const ScreenLimits& limits)
      : screening_(screening), again_(again), limits_(limits) {
    for (const NodeFinding& each : screening.nodes) suspects_.insert(each.node);
    for (const LinkFinding& link : screening.links) links_.insert(pair_of(link.first, link.second));
  }

  [[nodiscard]] Confirmation judge() {
    sort_values();
    const Retests nodes(nodes_, again_.launches, suspects_.size());
    std::set<std::size_t> low;
    for (const NodeFinding& each : screening_.nodes) {
      const auto retest = retest_of(nodes_, {each.node, each.node}, nodes);
      if (!retest) continue;
      if (!is_low(*retest, limits_.node_loss) || has_good_link(each.node, *retest, nodes)) {
        found_.cleared.push_back(each.node);
        continue;
      }
      found_.nodes.push_back({.node = each.node,
                              .log_effect = retest->log_effect,
                              .blamed = is_beyond_chance(*retest)});
      low.insert(each.node);
    }
    // A node is blamed before its links: these are not tested.
    std::erase_if(links_, [&](const NumberPair& link) {
      return low.contains(link.first) || low.contains(link.second);
    });
    // Two links of three nodes are better than the third where one node is fast.
    std::size_t good = 0;
    for (std::size_t node = 0; node < screening_.log_effects.size(); ++node) {
      if (!std::isnan(screening_.log_effects[node]) && !low.contains(node)) ++good;
    }
    const Retests links(links_of_, again_.launches, links_.size());
    for (const NumberPair& link : links_) {
      const auto retest = retest_of(links_of_, link, links);
      if (!retest || !is_low(*retest, limits_.link_loss) || !is_beyond_chance(*retest)) continue;
      found_.links.push_back({.first = link.first,
                              .second = link.second,
                              .log_effect = retest->log_effect,
                              .blamed = good >= kFewestCompared});
    }
    for (const UnitFinding& unit : screening_.units) confirm_unit(unit, nodes);
    return std::move(found_);
  }

 private:
  static bool is_low(const Retest& retest, double loss) {
    return retest.log_effect <= std::log1p(-loss);
  }
  /// Whether a node with few partners, whose links are all measured, is hardly low over one of
  /// them.
  [[nodiscard]] bool has_good_link(std::size_t node, const Retest& retest,
                                   const Retests& nodes) const {
    constexpr std::size_t kFewLinks = 4;  // of more, bad ones do not become the middle
    std::map<std::size_t, Values> links;
    for (const PairRate& pair : again_.pairs) {
      const bool is_own = pair.first == node || pair.second == node;
      const std::size_t partner = pair.first == node ? pair.second : pair.first;
      if (!is_own || !pair.log_rate || suspects_.contains(partner) || is_probe(pair)) continue;
      links[partner].push_back(value_of(pair) - nodes.center(pair.launch));
    }
    return links.size() <= kFewLinks && std::ranges::any_of(links, [&](const auto& link) {
             return stats::median(link.second) > retest.log_effect / 2;
           });
  }

  [[nodiscard]] bool is_beyond_chance(const Retest& retest) const {
    return retest.expected <= limits_.alarms * kNodeShare / 2;
  }

  static std::optional<Retest> retest_of(const Trials& trials, const NumberPair& key,
                                         const Retests& retests) {
    const auto found = trials.tested.find(key);
    return found == trials.tested.end() ? std::nullopt : retests.of(found->second);
  }

  /// Less what a pair of its level has beside the widest.
  [[nodiscard]] double value_of(const PairRate& pair) const {
    const std::size_t level = shared_units(again_.paths[pair.first], again_.paths[pair.second]);
    return *pair.log_rate - screening_.offsets[level];
  }

  /// What blamed units cost the pair.
  [[nodiscard]] double effect_of_units(const PairRate& pair) const {
    double effect = 0;
    for (const UnitFinding& unit : screening_.units) {
      if (probes(pair, unit)) effect += unit.log_effect;
    }
    return effect;
  }

  void add(std::map<NumberPair, std::vector<Values>>& to, const NumberPair& key,
           const PairRate& pair) {
    std::vector<Values>& launches = to[key];
    launches.resize(again_.launches);
    launches[pair.launch].push_back(value_of(pair) - effect_of_units(pair));
  }

  /// In a small fleet each pair is measured for its nodes and for itself.
  void sort_values() {
    const bool small = again_.paths.size() <= kSmallFleet;
    for (const PairRate& pair : again_.pairs) {
      if (!pair.log_rate) continue;
      const NumberPair both = pair_of(pair.first, pair.second);
      const bool of_links = pair.round >= kFirstLinkRound;
      if (of_links || small) {
        const bool tested = links_.contains(both);
        const bool good =
            of_links || !(suspects_.contains(both.first) || suspects_.contains(both.second));
        if (tested || good) add(tested ? links_of_.tested : links_of_.controls, both, pair);
      }
      if (of_links || is_probe(pair)) continue;
      add_node(pair.first, pair.second, pair);
      add_node(pair.second, pair.first, pair);
    }
  }

  /// A good node's pair with a suspect says nothing of it.
  void add_node(std::size_t node, std::size_t partner, const PairRate& pair) {
    if (suspects_.contains(partner)) return;
    add(suspects_.contains(node) ? nodes_.tested : nodes_.controls, {node, node}, pair);
  }

  /// Whether it crosses a unit that is blamed.
  [[nodiscard]] bool is_probe(const PairRate& pair) const {
    return std::ranges::any_of(screening_.units,
                               [&](const UnitFinding& unit) { return probes(pair, unit); });
  }

  [[nodiscard]] bool probes(const PairRate& pair, const UnitFinding& unit) const {
    return crosses(again_.paths[pair.first], again_.paths[pair.second], unit);
  }

  /// Low again in every launch.
  void confirm_unit(const UnitFinding& unit, const Retests& nodes) {
    std::vector<Values> launches(again_.launches);
    const double low = std::log1p(-(unit.other.empty() ? limits_.unit_loss : limits_.link_loss));
    UnitFinding again = unit;
    again.low = 0;
    again.pairs = 0;
    Values all;
    for (const PairRate& pair : again_.pairs) {
      const bool counts = pair.log_rate && pair.round < kFirstLinkRound && probes(pair, unit) &&
                          !suspects_.contains(pair.first) && !suspects_.contains(pair.second);
      if (!counts) continue;
      const double residual = value_of(pair) - nodes.center(pair.launch);
      launches[pair.launch].push_back(residual);
      all.push_back(residual);
      ++again.pairs;
      if (residual <= low) ++again.low;
    }
    const bool is_low = std::ranges::all_of(launches, [&](const Values& values) {
      return !values.empty() && stats::median(values) <= low;
    });
    if (!is_low) return;
    again.log_effect = stats::median(all);
    found_.units.push_back(std::move(again));
  }

  const Screening& screening_;
  const FleetRates& again_;
  const ScreenLimits& limits_;
  std::set<std::size_t> suspects_{};
  std::set<NumberPair> links_{};
  Trials nodes_{};
  Trials links_of_{};
  Confirmation found_{};
};

}  // namespace

std::vector<RoundOfPairs> fleet_rounds(const std::vector<NodePath>& paths, std::size_t partners,
                                       std::uint64_t seed) {
  const std::size_t nodes = paths.size();
  if (nodes > kSmallFleet) return level_matchings(paths, partners, seed);
  const std::size_t levels = nodes == 0 ? 0 : paths.front().size() + 1;
  std::vector<RoundOfPairs> rounds = level_matchings(paths, nodes * levels, seed);
  std::set<NumberPair> drawn;
  for (const RoundOfPairs& round : rounds) drawn.insert(round.begin(), round.end());
  for (const RoundOfPairs& round : round_robin(nodes)) {  // what random matchings have left
    RoundOfPairs left = filtered(round, [&](const auto& pair) { return !drawn.contains(pair); });
    if (!left.empty()) rounds.push_back(std::move(left));
  }
  return rounds;
}

std::vector<NumberedRound> confirmation_rounds(const Screening& screening,
                                               const std::vector<NodePath>& paths,
                                               std::uint64_t seed, std::size_t launch) {
  return Rounds(screening, paths, seed, launch).draw();
}

Confirmation confirm_suspects(const Screening& screening, const FleetRates& again,
                              const ScreenLimits& limits) {
  return Judging(screening, again, limits).judge();
}

}  // namespace busbar::judge
