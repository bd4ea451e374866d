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

std::set<NumberPair> links_of(const Screening& screening) {
  return set_of(screening.links,
                [](const LinkFinding& link) { return pair_of(link.first, link.second); });
}

class Rounds {
 public:
  Rounds(const Screening& screening, const std::vector<NodePath>& paths, std::uint64_t seed,
         std::size_t launch)
      : screening_(screening),
        paths_(paths),
        random_(splitmix64(seed + 1 + launch)),
        fixed_(splitmix64(seed)),
        links_(links_of(screening)) {
    std::vector<bool> good = screening.has_value;
    good.resize(paths.size());
    for (const NodeFinding& each : screening.nodes) good[each.node] = false;
    for (std::size_t node = 0; node < good.size(); ++node) {
      if (good[node]) good_.push_back(node);
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
    add(0, draw_nodes());
    add(kFirstLinkRound, draw_links());
    return drawn;
  }

 private:
  /// Pairs over a blamed uplink show the uplink.
  [[nodiscard]] bool crosses_blamed(std::size_t first, std::size_t second) const {
    return crosses_any(paths_[first], paths_[second], screening_.units);
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

  [[nodiscard]] std::vector<RoundOfPairs> draw_nodes() {
    std::vector<RoundOfPairs> rounds;
    Nodes suspects = mapped<std::size_t>(screening_.nodes, &NodeFinding::node);
    if (suspects.empty() && screening_.units.empty()) return rounds;
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
    return rounds;
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
  [[nodiscard]] std::vector<RoundOfPairs> draw_links() {
    std::vector<RoundOfPairs> rounds;
    if (links_.empty()) return rounds;
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
      if (!left.empty() || links > 0) std::ranges::for_each(controls, take);  // else new ones
      const std::size_t before = controls.size();
      add_control_links(batch, used, controls, wanted);
      grows = controls.size() > before;
      if (batch.empty()) break;
      rounds.insert(rounds.end(), kPartners, batch);
    }
    return rounds;
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
  std::set<NumberPair> links_;
  Nodes good_{};
  std::set<std::size_t> used_{};  ///< in this round
  std::set<NumberPair> met_{};    ///< in this launch
};

using Values = std::vector<double>;

/// What a test says of one: its effect, and how many of all that are tested would be as low.
struct Retest {
  double log_effect = 0;
  double expected = 1;
};

/// Values of what is tested and of what it is compared with; a node is a pair with itself.
class Trials {
 public:
  explicit Trials(std::size_t launches) : centers_(launches, 0) {}

  void add(bool is_tested, const NumberPair& nodes, std::size_t launch, double value) {
    std::vector<Values>& launches = (is_tested ? tested_ : controls_)[nodes];
    launches.resize(centers_.size());
    launches[launch].push_back(value);
  }

  /// To be called when all are there: `tests` of them share the alarms.
  void compare(std::size_t tests) {
    tests_ = static_cast<double>(tests);
    for (std::size_t launch = 0; launch < centers_.size(); ++launch) {
      Values middles;
      for (const auto& [nodes, values] : controls_) {
        if (!values[launch].empty()) middles.push_back(upper_median(values[launch]));
      }
      if (middles.empty()) continue;
      centers_[launch] = stats::median(middles);
      for (const double middle : middles) reference_.push_back(middle - centers_[launch]);
    }
    std::ranges::sort(reference_);
  }

  /// Nothing of what was not measured again.
  [[nodiscard]] std::optional<Retest> retest_of(const NumberPair& nodes) const {
    const auto found = tested_.find(nodes);
    if (found == tested_.end()) return {};
    Values effects;
    for (std::size_t launch = 0; launch < centers_.size(); ++launch) {
      const Values& values = found->second[launch];
      if (!values.empty()) effects.push_back(upper_median(values) - centers_[launch]);
    }
    std::ranges::sort(effects);
    const std::size_t needed = launches_low(effects.size());
    const auto end = std::ranges::upper_bound(reference_, effects[needed - 1]);
    const double p = stats::precedence_p(static_cast<std::size_t>(end - reference_.begin()),
                                         reference_.size(), effects.size(), needed);
    return Retest{.log_effect = stats::median(effects), .expected = p * tests_};
  }

  [[nodiscard]] double center(std::size_t launch) const { return centers_[launch]; }

 private:
  std::map<NumberPair, std::vector<Values>> tested_{};  ///< by launch
  std::map<NumberPair, std::vector<Values>> controls_{};
  double tests_ = 0;
  Values centers_;
  Values reference_{};
};

class Judging {
 public:
  Judging(const Screening& screening, const FleetRates& again, const ScreenLimits& limits)
      : screening_(screening),
        again_(again),
        limits_(limits),
        suspects_(set_of(screening.nodes, &NodeFinding::node)),
        links_(links_of(screening)),
        node_trials_(again.launches),
        link_trials_(again.launches) {}

  [[nodiscard]] Confirmation judge() {
    sort_values();
    node_trials_.compare(suspects_.size());
    std::set<std::size_t> low;
    for (const NodeFinding& each : screening_.nodes) {
      const auto retest = node_trials_.retest_of({each.node, each.node});
      if (!retest) continue;
      if (!is_low(*retest, limits_.node_loss) || has_good_link(each.node, *retest)) {
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
    const auto nodes = first_numbers<std::size_t>(screening_.has_value.size());
    const std::size_t good = count_of(
        nodes, [&](std::size_t node) { return screening_.has_value[node] && !low.contains(node); });
    link_trials_.compare(links_.size());
    for (const NumberPair& link : links_) {
      const auto retest = link_trials_.retest_of(link);
      if (!retest || !is_low(*retest, limits_.link_loss) || !is_beyond_chance(*retest)) continue;
      found_.links.push_back({.first = link.first,
                              .second = link.second,
                              .log_effect = retest->log_effect,
                              .blamed = good >= kFewestCompared});
    }
    for (const UnitFinding& unit : screening_.units) confirm_unit(unit);
    return std::move(found_);
  }

 private:
  static bool is_low(const Retest& retest, double loss) {
    return retest.log_effect <= std::log1p(-loss);
  }
  /// Whether a node with few partners, all measured, is hardly low over one of them.
  [[nodiscard]] bool has_good_link(std::size_t node, const Retest& retest) const {
    constexpr std::size_t kFewLinks = 4;  // of more, bad ones do not become the middle
    std::map<std::size_t, Values> links;
    for (const PairRate& pair : again_.pairs) {
      const bool is_own = pair.first == node || pair.second == node;
      const std::size_t partner = pair.first == node ? pair.second : pair.first;
      if (!is_own || suspects_.contains(partner) || is_probe(pair)) continue;
      links[partner].push_back(value_of(pair) - node_trials_.center(pair.launch));
    }
    return links.size() <= kFewLinks && std::ranges::any_of(links, [&](const auto& link) {
             return stats::median(link.second) > retest.log_effect / 2;
           });
  }

  [[nodiscard]] bool is_beyond_chance(const Retest& retest) const {
    return retest.expected <= limits_.alarms * kNodeShare / 2;
  }

  /// Less what a pair of its level has beside the widest.
  [[nodiscard]] double value_of(const PairRate& pair) const {
    const std::size_t level = shared_units(again_.paths[pair.first], again_.paths[pair.second]);
    return pair.log_rate - screening_.offsets[level];
  }

  /// And less what blamed units cost the pair.
  [[nodiscard]] double own_value_of(const PairRate& pair) const {
    double effect = 0;
    for (const UnitFinding& unit : screening_.units) {
      if (crosses(again_.paths[pair.first], again_.paths[pair.second], unit)) {
        effect += unit.log_effect;
      }
    }
    return value_of(pair) - effect;
  }

  /// In a small fleet each pair is measured for its nodes and for itself.
  void sort_values() {
    const bool small = again_.paths.size() <= kSmallFleet;
    for (const PairRate& pair : again_.pairs) {
      const NumberPair both = pair_of(pair.first, pair.second);
      const bool of_links = pair.round >= kFirstLinkRound;
      if (of_links || small) {
        const bool tested = links_.contains(both);
        const bool good =
            of_links || !(suspects_.contains(both.first) || suspects_.contains(both.second));
        if (tested || good) link_trials_.add(tested, both, pair.launch, own_value_of(pair));
      }
      if (of_links || is_probe(pair)) continue;
      add_node(pair.first, pair.second, pair);
      add_node(pair.second, pair.first, pair);
    }
  }

  /// A good node's pair with a suspect says nothing of it.
  void add_node(std::size_t node, std::size_t partner, const PairRate& pair) {
    if (suspects_.contains(partner)) return;
    node_trials_.add(suspects_.contains(node), {node, node}, pair.launch, own_value_of(pair));
  }

  [[nodiscard]] bool is_probe(const PairRate& pair) const {
    return crosses_any(again_.paths[pair.first], again_.paths[pair.second], screening_.units);
  }

  /// Low again in every launch.
  void confirm_unit(const UnitFinding& unit) {
    std::vector<Values> launches(again_.launches);
    const double low = std::log1p(-(unit.other.empty() ? limits_.unit_loss : limits_.link_loss));
    UnitFinding again = unit;
    again.count = {};
    Values all;
    for (const PairRate& pair : again_.pairs) {
      const bool counts = pair.round < kFirstLinkRound &&
                          crosses(again_.paths[pair.first], again_.paths[pair.second], unit) &&
                          !suspects_.contains(pair.first) && !suspects_.contains(pair.second);
      if (!counts) continue;
      const double residual = value_of(pair) - node_trials_.center(pair.launch);
      launches[pair.launch].push_back(residual);
      all.push_back(residual);
      again.count.add(residual <= low);
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
  std::set<std::size_t> suspects_;
  std::set<NumberPair> links_;
  Trials node_trials_;
  Trials link_trials_;
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
