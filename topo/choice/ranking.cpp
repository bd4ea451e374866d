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
  Figures upper{};
  std::size_t member = 0;  ///< the first by ties and indices
};

bool before(const Candidate& one, const Candidate& other) {
  return std::tie(one.tie, one.set) < std::tie(other.tie, other.set);
}

std::vector<Contender> contenders_of(std::span<const Candidate> candidates, const Groups& groups,
                                     const Rater& rater) {
  std::vector<Contender> contenders;
  for (const auto& group : groups) {
    const std::size_t first =
        *std::min_element(group.begin(), group.end(), [&](std::size_t one, std::size_t other) {
          return before(candidates[one], candidates[other]);
        });
    contenders.push_back({.upper = rater.upper(candidates[first].set), .member = first});
  }
  std::sort(contenders.begin(), contenders.end(),
            [&](const Contender& one, const Contender& other) {
              if (one.upper != other.upper) return one.upper > other.upper;
              return before(candidates[one.member], candidates[other.member]);
            });
  return contenders;
}

/// Whether the figures, or else the ties, are better than the best so far.
bool better(const Figures& figures, const Candidate& candidate, const Figures& best,
            const Candidate& known) {
  if (!same_figure(figures.ring_GBps, best.ring_GBps)) return figures.ring_GBps > best.ring_GBps;
  if (!same_figure(figures.bound_GBps, best.bound_GBps)) {
    return figures.bound_GBps > best.bound_GBps;
  }
  return before(candidate, known);
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
  Figures best{};
  const Candidate* chosen = nullptr;
  for (const Contender& contender : contenders_of(candidates, groups, rater)) {
    const Candidate& candidate = candidates[contender.member];
    if (chosen != nullptr && !better(contender.upper, candidate, best, *chosen)) {
      // Contenders fall: from here on only ties and indices may help, and only at this figure.
      if (!same_figures(contender.upper, best) && contender.upper < best) break;
      continue;
    }
    const auto figures = rater.rate_from(candidate.set, best.ring_GBps * (1 - kSameFigure));
    if (!figures || (chosen != nullptr && !better(*figures, candidate, best, *chosen))) continue;
    best = *figures;
    chosen = &candidate;
  }
  Ranked ranked{.set = chosen->set, .own = best, .best = best, .best_set = chosen->set};
  for (const Candidate& candidate : candidates) {
    ranked.sets = add_counts(ranked.sets, candidate.count);
  }
  ranked.decided = {"equals by fewest NUMA nodes, nearest NIC, lowest index"};
  return ranked;
}

Ranked rank_star(std::span<const int> pool, std::span<const double> ports, std::size_t k,
                 const TieBreaker& ties, Policy policy) {
  const std::vector<StarClass> classes = star_classes(ports, k);
  const StarClass& taken = class_of(classes, about_sets(pool.size(), k), policy);
  const auto figures = [](const StarClass& one) {
    return Figures{.ring_GBps = one.GBps, .bound_GBps = one.GBps};
  };
  const bool spread = policy == Policy::Worst;
  const double most = classes.front().GBps;
  Ranked ranked{.set = pick_from_star(pool, ports, ties,
                                      {.k = k, .level_GBps = taken.GBps, .spread = spread}),
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
