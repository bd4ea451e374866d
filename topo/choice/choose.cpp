// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "topo/choice/ranking.hpp"
#include "topo/choice/switch_ports.hpp"

namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, 5> kPolicyNames{"prefix", "best", "worst", "median", "list"};
/// So many different problems are solved to count classes; the best of more is searched for.
constexpr std::size_t kMostSolved = 400;

std::vector<int> pool_of(const Graph& graph, int host) {
  std::vector<int> pool;
  for (int index = 0; static_cast<std::size_t>(index) < device_count(graph); ++index) {
    if (host < 0 || device(graph, index).host == host) pool.push_back(index);
  }
  return pool;
}

void check_count(const Graph& graph, const std::vector<int>& pool, int k, int host) {
  if (k >= 1 && static_cast<std::size_t>(k) <= pool.size()) return;
  const std::string where =
      host < 0 ? fmt::format("'{}'", graph.name) : fmt::format("host {} of '{}'", host, graph.name);
  if (pool.empty()) throw usage_error(fmt::format("--devices: {} has no device", where));
  throw usage_error(fmt::format("--devices: {} of {} wanted, which has {}; ask for 1 to {}", k,
                                where, counted(pool.size(), "device"), pool.size()));
}

Ranked rank(const Graph& graph, const std::vector<int>& pool, std::size_t k, Policy policy,
            const BoundOptions& options) {
  const TieBreaker ties(graph);
  if (k >= 2) {
    if (const auto ports = switch_ports(graph, pool, options)) {
      return rank_by_ports(pool, *ports, k, ties, policy);
    }
  }
  const Rater rater(graph, pool, options);
  const std::vector<Candidate> candidates = candidates_of(pool, k, rater, ties);
  ScoreCache cache(rater, sets_of(candidates));
  if (policy == Policy::Best && cache.problems() > kMostSolved) return rank_best(candidates, cache);
  return rank_all(candidates, cache, policy);
}

/// The lowest set whose narrowest port is `level`.
DeviceSet lowest_of(std::span<const double> ports, std::size_t k, double level) {
  DeviceSet set;
  bool narrow = false;
  for (std::size_t i = 0; i < ports.size() && set.size() < k; ++i) {
    if (ports[i] < level || (ports[i] > level && set.size() + 1 == k && !narrow)) continue;
    narrow = narrow || ports[i] == level;
    set.push_back(static_cast<int>(i));
  }
  return set;
}

std::vector<SetClass> classes_by_ports(const Graph& graph, std::span<const double> ports,
                                       std::size_t k, const BoundOptions& options) {
  std::vector<SetClass> classes;
  for (const PortClass& one : port_classes(ports, k)) {
    DeviceSet example = lowest_of(ports, k, one.port_GBps);
    Bound bound = bound_of(graph, example, options);
    classes.push_back({.ring_GBps = one.port_GBps,
                       .count = one.count,
                       .example = std::move(example),
                       .bound = std::move(bound)});
  }
  return classes;
}

/// Adds a candidate to the class of this score, or begins it.
void add(std::map<double, SetClass, std::greater<>>& classes, double GBps,
         const Candidate& candidate) {
  SetClass& one = classes[GBps];
  one.count = add_counts(one.count, candidate.count);
  if (one.example.empty() || candidate.set < one.example) one.example = candidate.set;
}

std::vector<SetClass> finished(const Graph& graph,
                               const std::map<double, SetClass, std::greater<>>& classes,
                               const BoundOptions& options) {
  std::vector<SetClass> list;
  for (const auto& [GBps, sets] : classes) {
    SetClass one = sets;
    one.bound = bound_of(graph, one.example, options);
    one.ring_GBps = one.bound.ring_GBps;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string_view name(Policy policy) { return kPolicyNames.at(static_cast<std::size_t>(policy)); }

Choice choose(const Graph& graph, int k, Policy policy, const BoundOptions& options, int host) {
  const std::vector<int> pool = pool_of(graph, host);
  check_count(graph, pool, k, host);
  const auto count = static_cast<std::size_t>(k);
  if (policy == Policy::List) {
    throw usage_error("--devices: a list names its devices itself; write it as 0,1,2,3");
  }
  if (policy == Policy::Prefix) {
    const std::span<const int> set = std::span(pool).first(count);
    return {.policy = policy,
            .bound = bound_of(graph, set, options),
            .reason = count == pool.size()
                          ? fmt::format("all of {}", counted(pool.size(), "device"))
                          : fmt::format("the first {} of {}", k, counted(pool.size(), "device"))};
  }
  const Ranked ranked = rank(graph, pool, count, policy, options);
  return {.policy = policy,
          .bound = bound_of(graph, ranked.set, options),
          .reason = reason_of(ranked, policy)};
}

std::vector<SetClass> classes_of(const Graph& graph, int k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  if (k < 1 || static_cast<std::size_t>(k) > n) {
    throw usage_error(
        fmt::format("sets of {} of the {} devices of '{}'; ask for 1 to {}", k, n, graph.name, n));
  }
  std::vector<int> pool(n);
  std::iota(pool.begin(), pool.end(), 0);
  const auto count = static_cast<std::size_t>(k);
  if (count >= 2) {
    if (const auto ports = switch_ports(graph, pool, options)) {
      return classes_by_ports(graph, *ports, count, options);
    }
  }
  const Rater rater(graph, pool, options);
  const auto candidates = candidates_of(pool, count, rater, TieBreaker(graph));
  const std::vector<Scores> scores = ScoreCache(rater, sets_of(candidates)).solve_all();
  std::map<double, SetClass, std::greater<>> rings;
  std::map<double, SetClass, std::greater<>> fallbacks;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    add(rings, scores[i].ring_GBps, candidates[i]);
    if (scores[i].ring_GBps <= 0) add(fallbacks, scores[i].bound_GBps, candidates[i]);
  }
  std::vector<SetClass> classes = finished(graph, rings, options);
  if (count >= 2 && !fallbacks.empty() && fallbacks.begin()->first > 0) {
    classes.back().fallback = finished(graph, fallbacks, options);
  }
  return classes;
}

namespace {

constexpr std::array kPolicies{Policy::Prefix, Policy::Best, Policy::Worst, Policy::Median};
constexpr int kMost = 100'000;

void add_range(std::vector<int>& devices, std::string_view option, std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto number = [&](std::string_view digits) {
    return static_cast<int>(parse_integer(option, digits, 0, kMost));
  };
  const int first = number(text.substr(0, dash));
  const int last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (last < first) {
    throw usage_error(
        fmt::format("{}: the range {} runs backwards; write {}-{}", option, text, last, first));
  }
  for (int device = first; device <= last; ++device) devices.push_back(device);
}

}  // namespace

Selection parse_selection(std::string_view option, std::string_view text) {
  for (const Policy policy : kPolicies) {
    if (text == name(policy)) return {.policy = policy};
  }
  Selection selection{.policy = Policy::List};
  if (text.find_first_not_of("0123456789,-") != std::string_view::npos || text.empty()) {
    throw usage_error(fmt::format(
        "{}: '{}' is none of best, worst, median, prefix, or a list of devices such as 0,3,4-7",
        option, text));
  }
  for (const std::string& part : split(text, ',')) add_range(selection.devices, option, part);
  std::vector<int> sorted = selection.devices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return selection;
  throw usage_error(fmt::format("{}: device {} is twice in {}", option, *twice, text));
}

std::string words_of(const Selection& selection) {
  if (selection.policy != Policy::List) return std::string(name(selection.policy));
  std::vector<std::string> words;
  for (const int device : selection.devices) words.push_back(fmt::format("{}", device));
  return join(words, ",");
}

Choice select_devices(const Graph& graph, int k, const Selection& selection,
                      const BoundOptions& options, int host) {
  if (selection.policy != Policy::List) return choose(graph, k, selection.policy, options, host);
  if (selection.devices.size() != static_cast<std::size_t>(k)) {
    throw usage_error(fmt::format(
        "--devices names {}, and {} wanted; give as many as there are ranks on a host",
        counted(selection.devices.size(), "device"), k == 1 ? "1 is" : fmt::format("{} are", k)));
  }
  return {.policy = Policy::List,
          .bound = bound_of(graph, selection.devices, options),
          .reason = "as given"};
}

namespace {

/// Adds a line to a table whose lines from `first` on are compared with that one.
void add(std::vector<Comparison>& table, std::size_t first, const Graph& graph, Choice choice) {
  table.push_back({.system = graph.name, .choice = std::move(choice)});
  const double base = table.at(first).choice.bound.bound_GBps;
  if (base > 0) table.back().ratio = table.back().choice.bound.bound_GBps / base;
}

}  // namespace

std::vector<Comparison> compare_sets(const Graph& graph, std::span<const std::vector<int>> sets,
                                     const BoundOptions& options) {
  std::vector<Comparison> table;
  for (const std::vector<int>& set : sets) {
    add(table, 0, graph,
        {.policy = Policy::List, .bound = bound_of(graph, set, options), .reason = "as given"});
  }
  return table;
}

std::vector<Comparison> compare_systems(std::span<const Graph> graphs, std::span<const int> ks,
                                        Policy policy, const BoundOptions& options) {
  std::vector<Comparison> table;
  for (const int k : ks) {
    if (k < 1) throw usage_error(fmt::format("-k: sets of {} devices; give 1 or more", k));
    const std::size_t first = table.size();
    for (const Graph& graph : graphs) {
      if (device_count(graph) < static_cast<std::size_t>(k)) continue;
      add(table, first, graph, choose(graph, k, policy, options));
    }
  }
  return table;
}

std::vector<Comparison> summarize(const Graph& graph, const BoundOptions& options) {
  std::vector<Comparison> table;
  const auto all = static_cast<int>(device_count(graph));
  if (all < 2) return table;
  add(table, 0, graph, choose(graph, all, Policy::Prefix, options));
  table.back().system = fmt::format("all {}", all);
  const int first_host = device(graph, 0).host;
  int here = 0;
  for (int i = 0; i < all; ++i) here += device(graph, i).host == first_host ? 1 : 0;
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
