// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/ranking.hpp"

#include <numeric>
#include <tuple>

#include "topo/choice/isomorphism.hpp"

namespace busbar::topo {
namespace {

/// Devices that may stand for one another.
using Twins = std::vector<int>;

std::vector<Twins> twins_of(const Rater& rater, const TieBreaker& ties) {
  const std::vector<int> all = first_numbers(ties.devices());
  const auto problems = mapped(
      rater.problems(), [&](const RingProblem* problem) { return InducedSubgraph(*problem, all); });
  std::vector<Twins> classes;
  for (const int device : all) {
    const auto home = std::ranges::find_if(classes, [&](const Twins& twins) {
      const int first = twins.front();
      return ties.numa(first) == ties.numa(device) &&
             ties.nic_steps(first) == ties.nic_steps(device) &&
             std::ranges::all_of(problems, [&](const InducedSubgraph& problem) {
               return problem.unchanged_by_swap(first, device);
             });
    });
    if (home == classes.end()) {
      classes.push_back({device});
    } else {
      home->push_back(device);
    }
  }
  return classes;
}

/// Adds all ways to take k more from these classes, up to one more than kMostSets.
void take(std::span<const Twins> classes, std::size_t k, const Candidate& taken,
          std::vector<Candidate>& all) {
  if (classes.empty()) {
    all.push_back(taken);
    std::sort(all.back().set.begin(), all.back().set.end());
    return;
  }
  const Twins& first = classes.front();
  std::size_t room = 0;  // of the other classes
  for (const Twins& twins : classes.subspan(1)) room += twins.size();
  const std::size_t least = k > room ? k - room : 0;
  for (std::size_t count = std::min(k, first.size()) + 1; count-- > least;) {
    if (all.size() > kMostSets) return;
    Candidate more = taken;
    more.count = multiply_counts(more.count, count_sets(first.size(), count));
    more.set.insert(more.set.end(), first.begin(),
                    first.begin() + static_cast<std::ptrdiff_t>(count));
    take(classes.subspan(1), k - count, more, all);
  }
}

using Order = std::vector<std::size_t>;

/// Falling scores; of equal ones fewest NUMA nodes and so on, or (`turned`) most.
Order sorted(std::span<const Candidate> candidates, std::span<const Scores> scores, bool turned) {
  Order order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t one, std::size_t other) {
    if (scores[one] != scores[other]) return scores[one] > scores[other];
    const Tie& mine = candidates[one].tie;
    const Tie& theirs = candidates[other].tie;
    if (mine != theirs) return turned ? mine > theirs : mine < theirs;
    return candidates[one].set < candidates[other].set;
  });
  return order;
}

std::uint64_t total(std::span<const Candidate> candidates) {
  std::uint64_t sum = 0;
  for (const Candidate& candidate : candidates) sum = add_counts(sum, candidate.count);
  return sum;
}

/// Where half of all sets, counted from the best, are reached.
std::size_t middle_of(const Order& order, std::span<const Candidate> candidates) {
  const std::uint64_t all = total(candidates);
  std::uint64_t passed = 0;
  return *std::ranges::find_if(order, [&](std::size_t index) {
    passed = add_counts(passed, candidates[index].count);
    return passed >= all / 2 + all % 2;
  });
}

struct Decider {
  int Tie::*regard;
  std::string_view best;
  std::string_view worst;
};
constexpr Decider kByAccess{&Tie::off_pairs, "P2P for all pairs", "a pair without P2P"};
constexpr Decider kByNumaNodes{&Tie::numa_nodes, "fewest NUMA nodes", "most NUMA nodes"};
constexpr Decider kByNicSteps{&Tie::nic_steps, "nearest NIC", "farthest NIC"};

/// What decided between candidates with the scores of the chosen.
std::vector<std::string> deciders(std::vector<Candidate> equals, const Candidate& chosen,
                                  Policy policy) {
  if (policy == Policy::Median) return {"the middle of their order"};
  std::vector<std::string> decided;
  for (const Decider& decider : {kByAccess, kByNumaNodes, kByNicSteps}) {
    const auto others = std::erase_if(equals, [&](const Candidate& candidate) {
      return candidate.tie.*decider.regard != chosen.tie.*decider.regard;
    });
    if (others == 0) continue;
    decided.emplace_back(policy == Policy::Worst ? decider.worst : decider.best);
  }
  if (total(equals) > 1) decided.emplace_back("lowest index");
  return decided;
}

Ranked rank_all(std::span<const Candidate> candidates, std::span<const Scores> scores,
                Policy policy) {
  const Order order = sorted(candidates, scores, policy == Policy::Worst);
  std::size_t chosen = order.front();
  if (policy == Policy::Median) chosen = middle_of(order, candidates);
  if (policy == Policy::Worst) {  // the first of the last class
    chosen = *std::ranges::find_if(
        order, [&](std::size_t one) { return scores[one] == scores[order.back()]; });
  }
  std::vector<Candidate> equals;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (scores[i] == scores[chosen]) equals.push_back(candidates[i]);
  }
  Ranked ranked{.set = candidates[chosen].set,
                .own = scores[chosen],
                .sets = total(candidates),
                .equal = total(equals),
                .best = scores[order.front()],
                .best_set = candidates[order.front()].set,
                .worst = scores[order.back()]};
  if (ranked.equal > 1) ranked.decided = deciders(std::move(equals), candidates[chosen], policy);
  return ranked;
}

/// Where all sets have this bound.
Ranked rank_equal(double GBps, std::size_t k, const TieBreaker& ties, Policy policy) {
  const Scores scores{.ring_GBps = GBps, .bound_GBps = GBps};
  const bool spread = policy == Policy::Worst;
  const std::uint64_t sets = count_sets(ties.devices(), k);
  Ranked ranked{.set = pick_by_ties(k, ties, spread),
                .own = scores,
                .sets = sets,
                .equal = sets,
                .best = scores,
                .worst = scores};
  if (sets < 2) return ranked;
  const auto decide = [&](const Decider& decider, auto regard) {
    const auto differs = [&](int device) { return regard(device) != regard(0); };
    if (std::ranges::none_of(first_numbers(ties.devices()), differs)) return;
    ranked.decided.emplace_back(spread ? decider.worst : decider.best);
  };
  decide(kByNumaNodes, [&](int device) { return ties.numa(device); });
  decide(kByNicSteps, [&](int device) { return ties.nic_steps(device); });
  ranked.decided.emplace_back("lowest index");
  return ranked;
}

std::string describe(const Scores& scores, LinkKind gpu_link) {
  std::string rate = fmt::format("{:.4g} GB/s", scores.bound_GBps);
  if (scores.bound_GBps <= 0) return "no ring at all";
  if (scores.ring_GBps > 0) return rate;
  return fmt::format("{} without an {} ring", rate, gpu_link_text(gpu_link));
}

std::string share_of_best(const Scores& own, const Scores& best) {
  constexpr double kHalf = 0.5;
  const double share = own.bound_GBps / best.bound_GBps;
  if (same_score(share, kHalf)) return "half of the best";
  return fmt::format("{:.2g} % of the best", share * 100);
}

/// A set, or part of one: its cost, and the devices that it lacks. Of two sets of one size the
/// lower list is the one with the lowest device not in both; that stays so when both gain the same
/// others, which the dynamic program needs.
using PricedSet = std::pair<std::int64_t, std::vector<bool>>;
using Parts = std::vector<std::optional<PricedSet>>;  // the best of each size

/// What a device costs, and its index.
using PricedDevice = std::pair<std::int64_t, int>;

/// The best when any number of a node's devices, cheapest first, may join the best so far.
Parts joined_by(std::span<const PricedDevice> members, std::int64_t node_cost, const Parts& best) {
  Parts next = best;
  for (std::size_t size = 0; size < best.size(); ++size) {
    if (!best[size]) continue;
    PricedSet part = *best[size];
    part.first += node_cost;
    for (std::size_t more = 0; more < members.size() && size + more + 1 < best.size(); ++more) {
      part.first += members[more].first;
      part.second[to_size(members[more].second)] = false;
      std::optional<PricedSet>& known = next[size + more + 1];
      if (!known || part < *known) known = part;
    }
  }
  return next;
}

}  // namespace

std::vector<Candidate> candidates_of(std::size_t k, const Rater& rater, const TieBreaker& ties) {
  std::vector<Candidate> candidates;
  const std::size_t n = ties.devices();
  if (const std::uint64_t sets = count_sets(n, k); sets > kMostSets) {
    take(twins_of(rater, ties), k, {}, candidates);
    if (candidates.size() > kMostSets) {
      throw usage_error(
          "--devices: {} of {} of {} devices are too many to compare; choose within one host, or "
          "give a list such as --devices 0,1,2,3",
          counted_sets(sets), k, n);
    }
  } else {
    for (DeviceSet& set : all_sets(n, k)) candidates.push_back({.set = std::move(set)});
  }
  for (Candidate& candidate : candidates) candidate.tie = ties.of(candidate.set);
  return candidates;
}

std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates) {
  return mapped(candidates, &Candidate::set);
}

std::optional<double> equal_ports_GBps(const Graph& graph, const BoundOptions& options) {
  const std::vector<int> all = first_numbers(device_count(graph));
  const auto domain = all.size() < 2 ? std::nullopt : switched_domain(graph, all, options);
  if (!domain || domain->narrowest.size() < domain->links.size()) return std::nullopt;
  return domain->port_GBps;
}

DeviceSet pick_by_ties(std::size_t k, const TieBreaker& ties, bool spread) {
  const std::int64_t sign = spread ? -1 : 1;
  constexpr std::int64_t kNodeCost = std::int64_t{1} << 32U;  // more than all NIC steps
  const auto devices = static_cast<int>(ties.devices());
  std::map<int, std::vector<PricedDevice>> nodes;
  for (int device = 0; device < devices; ++device) {
    nodes[ties.numa(device)].emplace_back(sign * ties.nic_steps(device), device);
  }
  Parts best(k + 1);
  best.front() = PricedSet{0, std::vector<bool>(ties.devices(), true)};
  for (auto& [node, members] : nodes) {
    std::ranges::sort(members);
    best = joined_by(members, sign * kNodeCost, best);
  }
  DeviceSet set;
  for (int device = 0; device < devices; ++device) {
    if (!best.back()->second[to_size(device)]) set.push_back(device);
  }
  return set;
}

Ranked rank(const Graph& graph, std::size_t k, Policy policy, const BoundOptions& options) {
  constexpr std::size_t kMostSolved = 400;  // the best of more different problems is searched for
  const TieBreaker ties(graph);
  if (k >= 2) {
    if (const auto GBps = equal_ports_GBps(graph, options)) {
      return rank_equal(*GBps, k, ties, policy);
    }
  }
  const Rater rater(graph, options);
  const std::vector<Candidate> candidates = candidates_of(k, rater, ties);
  const std::vector<DeviceSet> sets = sets_of(candidates);
  const std::vector<IsomorphicSets> groups = rater.groups(sets);
  if (policy != Policy::Best || groups.size() <= kMostSolved) {
    return rank_all(candidates, rater.rate(sets, groups), policy);
  }
  const auto [chosen, scores] = rater.best(sets, groups, [&](std::size_t one, std::size_t other) {
    return std::tie(candidates[one].tie, candidates[one].set) <
           std::tie(candidates[other].tie, candidates[other].set);
  });
  return {.set = sets[chosen],
          .own = scores,
          .sets = total(candidates),
          .best = scores,
          .best_set = sets[chosen],
          .decided = {"equals by fewest NUMA nodes, nearest NIC, lowest index"}};
}

std::string reason_of(const Ranked& ranked, Policy policy, LinkKind gpu_link) {
  const auto text = [&](const Scores& scores) { return describe(scores, gpu_link); };
  const std::string ties = ranked.decided.empty() ? "" : "; " + join(ranked.decided, ", then ");
  if (ranked.set.size() < 2) return fmt::format("one device of {}{}", ranked.sets, ties);
  const std::string own = text(ranked.own);
  if (ranked.sets == 1) return "the only set: " + own;
  const std::string sets = counted_sets(ranked.sets);
  if (ranked.worst && same_score(ranked.best.ring_GBps, ranked.worst->ring_GBps) &&
      same_score(ranked.best.bound_GBps, ranked.worst->bound_GBps)) {
    return fmt::format("{} of {}: all have {}{}", name(policy), sets, own, ties);
  }
  const std::string equals = ranked.equal == kManySets ? " in most of them"
                             : ranked.equal == 0       ? ""
                                                 : fmt::format(" in {} of them", ranked.equal);
  if (policy == Policy::Worst) {
    return fmt::format("worst of {}: {}{}, instead of {}: {}, {}{}", sets, own, equals,
                       text(ranked.best), share_of_best(ranked.own, ranked.best),
                       describe_set(ranked.best_set), ties);
  }
  const std::string worst = ranked.worst ? ", worst " + text(*ranked.worst) : "";
  const std::string best = policy == Policy::Median ? ", best " + text(ranked.best) : "";
  return fmt::format("{} of {}: {}{}{}{}{}", name(policy), sets, own, equals, best, worst, ties);
}

}  // namespace busbar::topo
