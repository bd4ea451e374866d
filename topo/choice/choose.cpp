// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <bit>
#include <cmath>

#include <fmt/ranges.h>

#include "base/units.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {
namespace {

std::vector<int> pool_of(const Graph& graph, int host) {
  const std::vector<int> all = first_numbers(device_count(graph));
  return host < 0 ? all : by_host(graph, all)[host];
}

void check_count(const Graph& graph, const std::vector<int>& pool, int k, int host) {
  if (k >= 1 && to_size(k) <= pool.size()) return;
  const std::string where =
      host < 0 ? fmt::format("'{}'", graph.name) : fmt::format("host {} of '{}'", host, graph.name);
  if (pool.empty()) throw usage_error("--devices: {} has no device", where);
  throw usage_error("--devices: {} of {} wanted, which has {}; ask for 1 to {}", k, where,
                    counted(pool.size(), "device"), pool.size());
}

/// A set and what it is ordered by.
struct Candidate {
  DeviceSet set{};
  Scores scores{};
  Tie tie{};
};

std::vector<Candidate> rated(std::vector<DeviceSet> sets, Rater& rater, const TieBreaker& ties,
                             std::size_t most_solved = kMostExact) {
  const std::vector<Scores> scores = rater.rate(sets, most_solved);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    candidates.push_back({.scores = scores[i], .tie = ties.of(sets[i])});
    candidates.back().set = std::move(sets[i]);
  }
  return candidates;
}

struct Decider {
  int Tie::*regard;
  std::string_view best;
  std::string_view worst;
};
constexpr std::array kDeciders{Decider{&Tie::off_pairs, "P2P for all pairs", "a pair without P2P"},
                               Decider{&Tie::numa_nodes, "fewest NUMA nodes", "most NUMA nodes"},
                               Decider{&Tie::nic_steps, "nearest NIC", "farthest NIC"}};

/// What decided between candidates of equal scores for the first of them.
std::vector<std::string> deciders(std::span<const Candidate> equals, Policy policy) {
  std::vector<std::string> decided;
  for (const Decider& decider : kDeciders) {
    const int own = equals.front().tie.*decider.regard;
    const auto like = std::ranges::find_if(
        equals, [&](const Candidate& candidate) { return candidate.tie.*decider.regard != own; });
    if (like == equals.end()) continue;
    equals = {equals.begin(), like};
    decided.emplace_back(policy == Policy::Worst ? decider.worst : decider.best);
  }
  if (equals.size() > 1) decided.emplace_back("lowest index");
  return decided;
}

/// What a policy took and what it was compared with.
struct Ranked {
  DeviceSet set{};
  Scores own{};
  std::uint64_t sets = 0;   ///< compared in all; saturates at kManySets
  std::uint64_t equal = 0;  ///< sets with the scores of the chosen
  Scores best{};
  DeviceSet best_set{};
  Scores worst{};
  std::vector<std::string> decided{};  ///< what decided between equals, first to last
  bool greedy = false;                 ///< grown; only the set and the number of sets are known
};

/// Takes the best of the candidates, or the worst: that with the lowest scores.
Ranked taken(std::vector<Candidate> candidates, Policy policy) {
  std::ranges::sort(candidates, [&](const Candidate& one, const Candidate& other) {
    if (one.scores != other.scores) return one.scores > other.scores;
    if (one.tie != other.tie) {
      return policy == Policy::Worst ? one.tie > other.tie : one.tie < other.tie;
    }
    return one.set < other.set;
  });
  const Candidate& best = candidates.front();
  const Scores worst = candidates.back().scores;
  const Scores own = policy == Policy::Worst ? worst : best.scores;
  const auto first = std::ranges::find(candidates, own, &Candidate::scores);
  const auto last = std::find_if(
      first, candidates.end(), [&](const Candidate& candidate) { return candidate.scores != own; });
  const std::span<const Candidate> equals{first, last};
  return {.set = equals.front().set,
          .own = own,
          .sets = candidates.size(),
          .equal = equals.size(),
          .best = best.scores,
          .best_set = best.set,
          .worst = worst,
          .decided = deciders(equals, policy)};
}

std::vector<DeviceSet> with_one_more(const DeviceSet& set, std::size_t devices) {
  std::vector<DeviceSet> more;
  for (const int device : first_numbers(devices)) {
    const auto place = std::ranges::lower_bound(set, device);
    if (place != set.end() && *place == device) continue;
    more.push_back(set);
    more.back().insert(more.back().begin() + (place - set.begin()), device);
  }
  return more;
}

/// Rates all sets of k devices, or where they are too many grows one.
Ranked rank(const Graph& graph, std::size_t k, Policy policy, const BoundOptions& options) {
  constexpr std::size_t kMostSolved = 8;  // of the many sets that growing looks at
  const std::size_t n = device_count(graph);
  const TieBreaker ties(graph);
  Rater rater(graph, options);
  const std::uint64_t sets = count_sets(n, k);
  if (sets <= kMostSets) return taken(rated(all_sets(n, k), rater, ties), policy);
  Ranked ranked{.set = taken(rated(all_sets(n, 2), rater, ties), policy).set};
  while (ranked.set.size() < k) {
    ranked = taken(rated(with_one_more(ranked.set, n), rater, ties, kMostSolved), policy);
  }
  // Growing may end in a corner: no worse than the first.
  ranked = taken(rated({ranked.set, first_numbers(k)}, rater, ties), policy);
  ranked.greedy = !rater.equal_GBps();
  ranked.decided = {"ties by greedy search"};
  ranked.sets = ranked.equal = sets;
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
  if (std::abs(share - kHalf) < kSameScore) return "half of the best";
  return fmt::format("{:.2g} % of the best", share * 100);
}

/// Why a policy took this set: one line. `gpu_link` is the machine's.
std::string reason_of(const Ranked& ranked, Policy policy, LinkKind gpu_link) {
  const auto text = [&](const Scores& scores) { return describe(scores, gpu_link); };
  const std::string ties = ranked.decided.empty() ? "" : "; " + join(ranked.decided, ", then ");
  if (ranked.set.size() < 2) return fmt::format("one device of {}{}", ranked.sets, ties);
  const std::string own = text(ranked.own);
  if (ranked.sets == 1) return "the only set: " + own;
  const std::string sets = counted_sets(ranked.sets);
  if (ranked.greedy) {
    return fmt::format("{} by greedy search, as {} are too many to look at each: {}", name(policy),
                       sets, own);
  }
  if (ranked.best == ranked.worst) {
    return fmt::format("{} of {}: all have {}{}", name(policy), sets, own, ties);
  }
  const std::string equals = fmt::format(" in {} of them", ranked.equal);
  if (policy == Policy::Worst) {
    return fmt::format("worst of {}: {}{}, instead of {}: {}, {{{}}}{}", sets, own, equals,
                       text(ranked.best), share_of_best(ranked.own, ranked.best),
                       fmt::join(ranked.best_set, ","), ties);
  }
  return fmt::format("best of {}: {}{}, worst {}{}", sets, own, equals, text(ranked.worst), ties);
}

using Classes = std::map<double, SetClass, std::greater<>>;

/// Adds a set to the class of this score, or begins it; sets come in their order.
void add(Classes& classes, double GBps, const DeviceSet& set) {
  SetClass& one = classes[GBps];
  if (++one.count == 1) one.example = set;
}

std::vector<SetClass> finished(const Graph& graph, const Classes& classes,
                               const BoundOptions& options) {
  std::vector<SetClass> list;
  for (const auto& [GBps, sets] : classes) {
    SetClass& one = list.emplace_back(sets);
    one.bound = bound_of(graph, one.example, options);
    one.ring_GBps = one.bound.ring_GBps;
  }
  return list;
}

constexpr int kMostDevices = 100'000;

void add_range(std::vector<int>& devices, std::string_view option, std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto number = [&](std::string_view digits) {
    return static_cast<int>(parse_integer(option, digits, 0, kMostDevices));
  };
  const int first = number(text.substr(0, dash));
  const int last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (last < first) {
    throw usage_error("{}: the range {} runs backwards; write {}-{}", option, text, last, first);
  }
  for (int device = first; device <= last; ++device) devices.push_back(device);
}

/// Adds a line to a table whose lines from `first` on are compared with that one.
void add(std::vector<SetComparison>& table, std::size_t first, const Graph& graph, Choice choice) {
  table.push_back({.system = graph.name, .choice = std::move(choice)});
  const double base = table.at(first).choice.bound.bound_GBps;
  if (base > 0) table.back().ratio = table.back().choice.bound.bound_GBps / base;
}

}  // namespace

Choice choose(const Graph& graph, int k, Policy policy, const BoundOptions& options, int host) {
  const std::vector<int> pool = pool_of(graph, host);
  check_count(graph, pool, k, host);
  if (policy == Policy::List) {
    throw usage_error("--devices: a list names its devices itself; write it as 0,1,2,3");
  }
  const std::string devices = counted(pool.size(), "device");
  if (policy == Policy::Prefix) {
    return {.policy = policy,
            .bound = bound_of(graph, std::span(pool).first(to_size(k)), options),
            .reason = to_size(k) == pool.size() ? fmt::format("all of {}", devices)
                                                : fmt::format("the first {} of {}", k, devices)};
  }
  Ranked ranked = rank(keep_devices(graph, pool), to_size(k), policy, options);
  for (DeviceSet* set : {&ranked.set, &ranked.best_set}) {
    for (int& device : *set) device = pool[to_size(device)];
  }
  Choice choice{.policy = policy, .bound = bound_of(graph, ranked.set, options)};
  if (ranked.greedy) ranked.own = {choice.bound.ring_GBps, choice.bound.bound_GBps};
  choice.reason = reason_of(ranked, policy, gpu_link_kind(graph));
  return choice;
}

std::vector<SetClass> classes_of(const Graph& graph, int k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  if (k < 1 || to_size(k) > n) {
    throw usage_error("sets of {} of the {} devices of '{}'; ask for 1 to {}", k, n, graph.name, n);
  }
  const std::uint64_t count = count_sets(n, to_size(k));
  Rater rater(graph, options);
  if (count > kMostSets && !rater.equal_GBps()) {
    throw usage_error(
        "{} of {} of the {} devices of '{}' are too many to look at each; give fewer devices with "
        "-k",
        counted_sets(count), k, n, graph.name);
  }
  std::vector<DeviceSet> sets{first_numbers(to_size(k))};
  if (count <= kMostSets) sets = all_sets(n, to_size(k));
  const std::vector<Scores> scores = rater.rate(sets);
  Classes rings;
  Classes fallbacks;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    add(rings, scores[i].ring_GBps, sets[i]);
    if (scores[i].ring_GBps <= 0) add(fallbacks, scores[i].bound_GBps, sets[i]);
  }
  if (sets.size() < count) rings.begin()->second.count = count;
  std::vector<SetClass> classes = finished(graph, rings, options);
  if (k >= 2 && !fallbacks.empty() && fallbacks.begin()->first > 0) {
    classes.back().fallback = finished(graph, fallbacks, options);
  }
  return classes;
}

Selection parse_selection(std::string_view option, std::string_view text) {
  const auto policy = find_value<Policy>(text);
  if (policy && *policy != Policy::List) return {.policy = *policy};
  Selection selection{.policy = Policy::List};
  if (text.find_first_not_of("0123456789,-") != std::string_view::npos || text.empty()) {
    throw invalid_value(option, text,
                        split("best|worst|prefix|a list of devices such as 0,3,4-7", '|'));
  }
  for (const std::string& part : split(text, ',')) add_range(selection.devices, option, part);
  std::vector<int> sorted = selection.devices;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return selection;
  throw usage_error("{}: device {} is twice in {}", option, *twice, text);
}

std::string to_text(const Selection& selection) {
  if (selection.policy != Policy::List) return std::string(name(selection.policy));
  return fmt::format("{}", fmt::join(selection.devices, ","));
}

Choice select_devices(const Graph& graph, int k, const Selection& selection,
                      const BoundOptions& options, int host) {
  if (selection.policy != Policy::List) return choose(graph, k, selection.policy, options, host);
  if (selection.devices.size() != to_size(k)) {
    throw usage_error(
        "--devices names {}, and {} wanted; give as many as there are ranks on a host",
        counted(selection.devices.size(), "device"), k == 1 ? "1 is" : fmt::format("{} are", k));
  }
  return {.policy = Policy::List,
          .bound = bound_of(graph, selection.devices, options),
          .reason = "as given"};
}

std::vector<SetComparison> compare_sets(const Graph& graph, std::span<const std::vector<int>> sets,
                                        const BoundOptions& options) {
  std::vector<SetComparison> table;
  for (const std::vector<int>& set : sets) {
    add(table, 0, graph,
        {.policy = Policy::List, .bound = bound_of(graph, set, options), .reason = "as given"});
  }
  return table;
}

std::vector<SetComparison> compare_systems(std::span<const Graph> graphs, std::span<const int> ks,
                                           Policy policy, const BoundOptions& options) {
  std::vector<SetComparison> table;
  for (const int k : ks) {
    if (k < 1) throw usage_error("-k: sets of {} devices; give 1 or more", k);
    const std::size_t first = table.size();
    for (const Graph& graph : graphs) {
      if (device_count(graph) < to_size(k)) continue;
      add(table, first, graph, choose(graph, k, policy, options));
    }
  }
  return table;
}

std::vector<SetComparison> summarize(const Graph& graph, const BoundOptions& options) {
  std::vector<SetComparison> table;
  const auto all = static_cast<int>(device_count(graph));
  if (all < 2) return table;
  add(table, 0, graph, choose(graph, all, Policy::Prefix, options));
  table.back().system = fmt::format("all {}", all);
  const int first_host = device(graph, 0).host;
  const auto here = static_cast<int>(pool_of(graph, first_host).size());
  const int largest = here < all ? here : all - 1;
  for (auto k = static_cast<int>(std::bit_floor(static_cast<unsigned>(largest))); k >= 2; k /= 2) {
    const std::size_t first = table.size();
    add(table, first, graph, choose(graph, k, Policy::Best, options, first_host));
    add(table, first, graph, choose(graph, k, Policy::Worst, options, first_host));
    const bool equal = table[first].choice.bound.bound_GBps == table.back().choice.bound.bound_GBps;
    table[first].system = fmt::format("{} {}", equal ? "any" : "best", k);
    table.back().system = fmt::format("worst {}", k);
    if (equal) table.pop_back();
  }
  return table;
}

}  // namespace busbar::topo
