// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <bit>

#include <fmt/ranges.h>

#include "base/units.hpp"
#include "topo/choice/ranking.hpp"

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

using Classes = std::map<double, SetClass, std::greater<>>;

/// Adds a candidate to the class of this score, or begins it.
void add(Classes& classes, double GBps, const Candidate& candidate) {
  SetClass& one = classes[GBps];
  one.count = add_counts(one.count, candidate.count);
  if (one.example.empty() || candidate.set < one.example) one.example = candidate.set;
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
  return {.policy = policy,
          .bound = bound_of(graph, ranked.set, options),
          .reason = reason_of(ranked, policy, gpu_link_kind(graph))};
}

std::vector<SetClass> classes_of(const Graph& graph, int k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  if (k < 1 || to_size(k) > n) {
    throw usage_error("sets of {} of the {} devices of '{}'; ask for 1 to {}", k, n, graph.name, n);
  }
  Classes rings;
  Classes fallbacks;
  if (const auto GBps = k < 2 ? std::nullopt : equal_ports_GBps(graph, options)) {
    const std::vector<int> all = pool_of(graph, -1);
    add(rings, *GBps, {.set = {all.begin(), all.begin() + k}, .count = count_sets(n, to_size(k))});
    return finished(graph, rings, options);
  }
  const Rater rater(graph, options);
  const auto candidates = candidates_of(to_size(k), rater, TieBreaker(graph));
  const std::vector<DeviceSet> sets = sets_of(candidates);
  const std::vector<Scores> scores = rater.rate(sets, rater.groups(sets));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    add(rings, scores[i].ring_GBps, candidates[i]);
    if (scores[i].ring_GBps <= 0) add(fallbacks, scores[i].bound_GBps, candidates[i]);
  }
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
                        split("best|worst|median|prefix|a list of devices such as 0,3,4-7", '|'));
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
