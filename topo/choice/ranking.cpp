// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/ranking.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/choice/isomorphism.hpp"
#include "topo/choice/switch_ports.hpp"

namespace busbar::topo {
namespace {

/// Places of the pool that may stand for one another.
using Twins = std::vector<std::size_t>;

std::vector<Twins> twins_of(std::span<const int> pool, const Rater& rater, const TieBreaker& ties) {
  std::vector<int> all(pool.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<InducedSubgraph> problems{{rater.first.problem(), all}};
  if (rater.fallback) problems.emplace_back(rater.fallback->problem(), all);
  const auto interchangeable = [&](std::size_t one, std::size_t other) {
    return ties.numa(pool[one]) == ties.numa(pool[other]) &&
           ties.nic_steps(pool[one]) == ties.nic_steps(pool[other]) &&
           std::all_of(problems.begin(), problems.end(), [&](const InducedSubgraph& problem) {
             return problem.unchanged_by_swap(one, other);
           });
  };
  std::vector<Twins> classes;
  for (std::size_t place = 0; place < pool.size(); ++place) {
    const auto home = std::find_if(classes.begin(), classes.end(), [&](const Twins& twins) {
      return interchangeable(twins.front(), place);
    });
    if (home == classes.end()) {
      classes.push_back({place});
    } else {
      home->push_back(place);
    }
  }
  return classes;
}

/// All ways to take k from classes of given sizes; false where they are more than kMostSets.
bool enumerate(const std::vector<Twins>& classes, std::size_t k,
               std::vector<std::vector<std::size_t>>& ways) {
  std::vector<std::size_t> room(classes.size() + 1, 0);  // what the classes from here on hold
  for (std::size_t i = classes.size(); i-- > 0;) room[i] = room[i + 1] + classes[i].size();
  std::vector<std::vector<std::size_t>> partial{{}};
  std::vector<std::size_t> taken{0};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    std::vector<std::vector<std::size_t>> next;
    std::vector<std::size_t> next_taken;
    for (std::size_t p = 0; p < partial.size(); ++p) {
      const std::size_t left = k - taken[p];
      const std::size_t least = left > room[i + 1] ? left - room[i + 1] : 0;
      for (std::size_t count = std::min(left, classes[i].size()) + 1; count-- > least;) {
        next.push_back(partial[p]);
        next.back().push_back(count);
        next_taken.push_back(taken[p] + count);
        if (next.size() > kMostSets) return false;
      }
    }
    partial = std::move(next);
    taken = std::move(next_taken);
  }
  ways = std::move(partial);
  return true;
}

Candidate candidate_of(const std::vector<Twins>& classes, const std::vector<std::size_t>& way,
                       std::span<const int> pool) {
  Candidate candidate;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    candidate.count = multiply_counts(candidate.count, count_sets(classes[i].size(), way[i]));
    for (std::size_t j = 0; j < way[i]; ++j) candidate.set.push_back(pool[classes[i][j]]);
  }
  std::sort(candidate.set.begin(), candidate.set.end());
  return candidate;
}

std::vector<Candidate> by_classes(std::span<const int> pool, std::size_t k, const Rater& rater,
                                  const TieBreaker& ties) {
  const std::vector<Twins> classes = twins_of(pool, rater, ties);
  std::vector<std::vector<std::size_t>> ways;
  if (!enumerate(classes, k, ways)) {
    throw usage_error(
        fmt::format("--devices: {} of {} of {} devices are too many to compare; choose within one "
                    "host, or give a list such as --devices 0,1,2,3",
                    counted_sets(count_sets(pool.size(), k)), k, pool.size()));
  }
  std::vector<Candidate> candidates;
  for (const auto& way : ways) candidates.push_back(candidate_of(classes, way, pool));
  return candidates;
}

using Order = std::vector<std::size_t>;

/// Falling scores; of equal ones fewest NUMA nodes and so on, or (`turned`) most.
Order sorted(std::span<const Candidate> candidates, std::span<const Scores> scores, bool turned) {
  Order order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    if (scores[one] != scores[other]) return scores[one] > scores[other];
    const Tie& mine = candidates[one].tie;
    const Tie& theirs = candidates[other].tie;
    if (mine != theirs) return turned ? mine > theirs : mine < theirs;
    return candidates[one].set < candidates[other].set;
  });
  return order;
}

/// The first of the last class.
std::size_t first_of_last(const Order& order, std::span<const Scores> scores) {
  return *std::find_if(order.begin(), order.end(),
                       [&](std::size_t index) { return scores[index] == scores[order.back()]; });
}

/// Where half of all sets, counted from the best, are reached.
std::size_t middle_of(const Order& order, std::span<const Candidate> candidates) {
  std::uint64_t total = 0;
  for (const Candidate& candidate : candidates) total = add_counts(total, candidate.count);
  std::uint64_t passed = 0;
  for (const std::size_t index : order) {
    passed = add_counts(passed, candidates[index].count);
    if (passed >= total / 2 + total % 2) return index;
  }
  return order.back();
}

/// Leaves the candidates that agree with the chosen in one regard; says whether that decided.
template <class Regard>
bool narrow(std::vector<const Candidate*>& equals, const Candidate& chosen, Regard regard) {
  return std::erase_if(equals, [&](const Candidate* candidate) {
           return regard(*candidate) != regard(chosen);
         }) > 0;
}

std::vector<std::string> deciders(std::vector<const Candidate*> equals, const Candidate& chosen,
                                  Policy policy) {
  const bool worst = policy == Policy::Worst;
  std::vector<std::string> decided;
  if (policy == Policy::Median) return {"the middle of their order"};
  if (narrow(equals, chosen, [](const Candidate& c) { return c.tie.off_pairs; })) {
    decided.emplace_back(worst ? "a pair without P2P" : "P2P for all pairs");
  }
  if (narrow(equals, chosen, [](const Candidate& c) { return c.tie.numa_nodes; })) {
    decided.emplace_back(worst ? "most NUMA nodes" : "fewest NUMA nodes");
  }
  if (narrow(equals, chosen, [](const Candidate& c) { return c.tie.nic_steps; })) {
    decided.emplace_back(worst ? "farthest NIC" : "nearest NIC");
  }
  if (equals.size() > 1 || chosen.count > 1) decided.emplace_back("lowest index");
  return decided;
}

const PortClass& class_of(const std::vector<PortClass>& classes, double sets, Policy policy) {
  if (policy == Policy::Worst) return classes.back();
  if (policy != Policy::Median) return classes.front();
  double passed = 0;
  for (const PortClass& one : classes) {
    passed += one.about;
    if (passed >= sets / 2) return one;
  }
  return classes.back();
}

std::string describe(const Scores& scores) {
  const std::string rate = fmt::format("{:.4g} GB/s", scores.bound_GBps);
  if (scores.bound_GBps <= 0) return "no ring at all";
  return scores.ring_GBps > 0 ? rate : rate + " without an NVLink ring";
}

std::string ties_of(const Ranked& ranked) {
  return ranked.decided.empty() ? "" : "; " + join(ranked.decided, ", then ");
}

std::string equals_of(const Ranked& ranked) {
  if (ranked.equal == 0) return "";
  if (ranked.equal == 1) return " in 1 of them";
  if (ranked.equal == kManySets) return " in most of them";
  return fmt::format(" in {} of them", ranked.equal);
}

std::string share_of_best(const Scores& own, const Scores& best) {
  constexpr double kHalf = 0.5;
  const double share = own.bound_GBps / best.bound_GBps;
  if (same_score(share, kHalf)) return "half of the best";
  return fmt::format("{:.2g} % of the best", share * 100);
}

}  // namespace

std::vector<Candidate> candidates_of(std::span<const int> pool, std::size_t k, const Rater& rater,
                                     const TieBreaker& ties) {
  std::vector<Candidate> candidates;
  if (count_sets(pool.size(), k) > kMostSets) {
    candidates = by_classes(pool, k, rater, ties);
  } else {
    for (DeviceSet& set : all_sets(pool, k)) candidates.push_back({.set = std::move(set)});
  }
  for (Candidate& candidate : candidates) candidate.tie = ties.of(candidate.set);
  return candidates;
}

std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates) {
  std::vector<DeviceSet> sets;
  sets.reserve(candidates.size());
  for (const Candidate& candidate : candidates) sets.push_back(candidate.set);
  return sets;
}

Ranked rank_all(std::span<const Candidate> candidates, ScoreCache& cache, Policy policy) {
  const std::vector<Scores> scores = cache.solve_all();
  const Order order = sorted(candidates, scores, policy == Policy::Worst);
  std::size_t chosen = order.front();
  if (policy == Policy::Worst) chosen = first_of_last(order, scores);
  if (policy == Policy::Median) chosen = middle_of(order, candidates);
  Ranked ranked{.set = candidates[chosen].set,
                .own = scores[chosen],
                .best = scores[order.front()],
                .best_set = candidates[order.front()].set,
                .worst = scores[order.back()]};
  std::vector<const Candidate*> equals;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranked.sets = add_counts(ranked.sets, candidates[i].count);
    if (scores[i] != scores[chosen]) continue;
    ranked.equal = add_counts(ranked.equal, candidates[i].count);
    equals.push_back(&candidates[i]);
  }
  if (ranked.equal > 1) ranked.decided = deciders(std::move(equals), candidates[chosen], policy);
  return ranked;
}

Ranked rank_best(std::span<const Candidate> candidates, ScoreCache& cache) {
  const auto [chosen, scores] = cache.best([&](std::size_t one, std::size_t other) {
    return std::tie(candidates[one].tie, candidates[one].set) <
           std::tie(candidates[other].tie, candidates[other].set);
  });
  const DeviceSet& set = candidates[chosen].set;
  Ranked ranked{.set = set,
                .own = scores,
                .best = scores,
                .best_set = set,
                .decided = {"equals by fewest NUMA nodes, nearest NIC, lowest index"}};
  for (const Candidate& candidate : candidates) {
    ranked.sets = add_counts(ranked.sets, candidate.count);
  }
  return ranked;
}

Ranked rank_by_ports(std::span<const int> pool, std::span<const double> ports, std::size_t k,
                     const TieBreaker& ties, Policy policy) {
  const std::vector<PortClass> classes = port_classes(ports, k);
  const PortClass& taken = class_of(classes, about_sets(pool.size(), k), policy);
  const auto scores = [](const PortClass& one) {
    return Scores{.ring_GBps = one.port_GBps, .bound_GBps = one.port_GBps};
  };
  const bool spread = policy == Policy::Worst;
  const double most = classes.front().port_GBps;
  Ranked ranked{.set = pick_by_ports(pool, ports, ties,
                                     {.k = k, .level_GBps = taken.port_GBps, .spread = spread}),
                .own = scores(taken),
                .sets = count_sets(pool.size(), k),
                .equal = taken.count,
                .best = scores(classes.front()),
                .best_set = pick_by_ports(pool, ports, ties, {.k = k, .level_GBps = most}),
                .worst = scores(classes.back())};
  if (ranked.equal < 2) return ranked;
  const auto differ = [&](auto regard) {
    return std::any_of(pool.begin(), pool.end(),
                       [&](int device) { return regard(device) != regard(pool.front()); });
  };
  if (differ([&](int device) { return ties.numa(device); })) {
    ranked.decided.emplace_back(spread ? "most NUMA nodes" : "fewest NUMA nodes");
  }
  if (differ([&](int device) { return ties.nic_steps(device); })) {
    ranked.decided.emplace_back(spread ? "farthest NIC" : "nearest NIC");
  }
  ranked.decided.emplace_back("lowest index");
  return ranked;
}

std::string reason_of(const Ranked& ranked, Policy policy) {
  const std::string ties = ties_of(ranked);
  if (ranked.set.size() < 2) return fmt::format("one device of {}{}", ranked.sets, ties);
  const std::string own = describe(ranked.own);
  if (ranked.sets == 1) return "the only set: " + own;
  const std::string sets = counted_sets(ranked.sets);
  if (ranked.worst && same_score(ranked.best.ring_GBps, ranked.worst->ring_GBps) &&
      same_score(ranked.best.bound_GBps, ranked.worst->bound_GBps)) {
    return fmt::format("{} of {}: all have {}{}", name(policy), sets, own, ties);
  }
  const std::string equals = equals_of(ranked);
  if (policy == Policy::Worst) {
    return fmt::format("worst of {}: {}{}, instead of {}: {}, {}{}", sets, own, equals,
                       describe(ranked.best), share_of_best(ranked.own, ranked.best),
                       describe_set(ranked.best_set), ties);
  }
  const std::string worst = ranked.worst ? ", worst " + describe(*ranked.worst) : "";
  const std::string best = policy == Policy::Median ? ", best " + describe(ranked.best) : "";
  return fmt::format("{} of {}: {}{}{}{}{}", name(policy), sets, own, equals, best, worst, ties);
}

}  // namespace busbar::topo
