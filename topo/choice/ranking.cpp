// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/ranking.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "topo/choice/star.hpp"

namespace busbar::topo {
namespace {

using Order = std::vector<std::size_t>;

/// Falling figures; of equal ones fewest NUMA nodes and so on, or (`turned`) most.
Order sorted(std::span<const Candidate> candidates, std::span<const Figures> figures, bool turned) {
  Order order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    if (figures[one] != figures[other]) return figures[one] > figures[other];
    const Tie& mine = candidates[one].tie;
    const Tie& theirs = candidates[other].tie;
    if (mine != theirs) return turned ? mine > theirs : mine < theirs;
    return candidates[one].set < candidates[other].set;
  });
  return order;
}

/// The first of the last class.
std::size_t first_of_last(const Order& order, std::span<const Figures> figures) {
  return *std::find_if(order.begin(), order.end(),
                       [&](std::size_t index) { return figures[index] == figures[order.back()]; });
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

/// What still competes in find_best: sets of one problem.
struct Contender {
  double upper_GBps = 0;
  std::size_t member = 0;  ///< the first by ties and indices
};

bool before(const Candidate& one, const Candidate& other) {
  return std::tie(one.tie, one.set) < std::tie(other.tie, other.set);
}

std::vector<Contender> contenders_of(std::span<const Candidate> candidates, const Groups& groups,
                                     const RingRater& rater) {
  std::vector<Contender> contenders;
  for (const auto& group : groups) {
    const std::size_t first =
        *std::min_element(group.begin(), group.end(), [&](std::size_t one, std::size_t other) {
          return before(candidates[one], candidates[other]);
        });
    contenders.push_back({.upper_GBps = rater.upper_GBps(candidates[first].set), .member = first});
  }
  std::sort(contenders.begin(), contenders.end(),
            [&](const Contender& one, const Contender& other) {
              if (one.upper_GBps != other.upper_GBps) return one.upper_GBps > other.upper_GBps;
              return before(candidates[one.member], candidates[other.member]);
            });
  return contenders;
}

/// The best so far: a figure and who has it.
struct Leader {
  double best_GBps = 0;
  const Candidate* candidate = nullptr;

  [[nodiscard]] bool beaten_by(double figure, const Candidate& other) const {
    if (candidate == nullptr) return true;
    return same_figure(figure, best_GBps) ? before(other, *candidate) : figure > best_GBps;
  }
};

/// Contenders fall: once one cannot reach the leader, none of the rest can.
Leader lead(std::span<const Candidate> candidates, const Groups& groups, const RingRater& rater) {
  Leader leader;
  for (const Contender& contender : contenders_of(candidates, groups, rater)) {
    const Candidate& candidate = candidates[contender.member];
    if (!leader.beaten_by(contender.upper_GBps, candidate)) {
      if (!same_figure(contender.upper_GBps, leader.best_GBps)) break;
      continue;
    }
    const auto figure = rater.rate_from_GBps(candidate.set, leader.best_GBps * (1 - kSameFigure));
    if (figure && leader.beaten_by(*figure, candidate)) {
      leader = {.best_GBps = *figure, .candidate = &candidate};
    }
  }
  return leader;
}

const StarClass& class_of(const std::vector<StarClass>& classes, double sets, Policy policy) {
  if (policy == Policy::Worst) return classes.back();
  if (policy != Policy::Median) return classes.front();
  double passed = 0;
  for (const StarClass& one : classes) {
    passed += one.about;
    if (passed >= sets / 2) return one;
  }
  return classes.back();
}

}  // namespace

std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates) {
  std::vector<DeviceSet> sets;
  sets.reserve(candidates.size());
  for (const Candidate& candidate : candidates) sets.push_back(candidate.set);
  return sets;
}

Ranked rank_all(std::span<const Candidate> candidates, const Groups& groups, const Rater& rater,
                Policy policy) {
  const std::vector<Figures> figures = rater.rate_all(sets_of(candidates), groups);
  const Order order = sorted(candidates, figures, policy == Policy::Worst);
  std::size_t chosen = order.front();
  if (policy == Policy::Worst) chosen = first_of_last(order, figures);
  if (policy == Policy::Median) chosen = middle_of(order, candidates);
  Ranked ranked{.set = candidates[chosen].set,
                .own = figures[chosen],
                .best = figures[order.front()],
                .best_set = candidates[order.front()].set,
                .worst = figures[order.back()]};
  std::vector<const Candidate*> equals;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranked.sets = add_counts(ranked.sets, candidates[i].count);
    if (figures[i] != figures[chosen]) continue;
    ranked.equal = add_counts(ranked.equal, candidates[i].count);
    equals.push_back(&candidates[i]);
  }
  if (ranked.equal > 1) ranked.decided = deciders(std::move(equals), candidates[chosen], policy);
  return ranked;
}

Ranked find_best(std::span<const Candidate> candidates, const Groups& groups, const Rater& rater) {
  Leader leader = lead(candidates, groups, rater.first());
  Figures best{.ring_GBps = leader.best_GBps, .bound_GBps = leader.best_GBps};
  if (leader.best_GBps <= 0 && rater.fallback()) {
    const RingRater& fallback = *rater.fallback();
    leader = lead(candidates, fallback.groups(sets_of(candidates)), fallback);
    best.bound_GBps = leader.best_GBps;
  }
  Ranked ranked{.set = leader.candidate->set,
                .own = best,
                .best = best,
                .best_set = leader.candidate->set,
                .decided = {"equals by fewest NUMA nodes, nearest NIC, lowest index"}};
  for (const Candidate& candidate : candidates) {
    ranked.sets = add_counts(ranked.sets, candidate.count);
  }
  return ranked;
}

Ranked rank_star(std::span<const int> pool, std::span<const double> ports, std::size_t k,
                 const TieBreaker& ties, Policy policy) {
  const std::vector<StarClass> classes = star_classes(ports, k);
  const StarClass& taken = class_of(classes, about_sets(pool.size(), k), policy);
  const auto figures = [](const StarClass& one) {
    return Figures{.ring_GBps = one.port_GBps, .bound_GBps = one.port_GBps};
  };
  const bool spread = policy == Policy::Worst;
  const double most = classes.front().port_GBps;
  Ranked ranked{.set = pick_from_star(pool, ports, ties,
                                      {.k = k, .level_GBps = taken.port_GBps, .spread = spread}),
                .own = figures(taken),
                .sets = count_sets(pool.size(), k),
                .equal = taken.count,
                .best = figures(classes.front()),
                .best_set = pick_from_star(pool, ports, ties, {.k = k, .level_GBps = most}),
                .worst = figures(classes.back())};
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

}  // namespace busbar::topo
