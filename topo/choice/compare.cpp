// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/compare.hpp"

#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::topo {
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
