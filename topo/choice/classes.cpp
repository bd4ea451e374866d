// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/choice/candidates.hpp"
#include "topo/choice/choose.hpp"
#include "topo/choice/ranking.hpp"
#include "topo/choice/rater.hpp"
#include "topo/choice/star.hpp"

namespace busbar::topo {
namespace {

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

std::vector<SetClass> star_set_classes(const Graph& graph, std::span<const double> ports,
                                       std::size_t k, const BoundOptions& options) {
  std::vector<SetClass> classes;
  for (const StarClass& one : star_classes(ports, k)) {
    DeviceSet example = lowest_of(ports, k, one.port_GBps);
    Bound bound = bound_of(graph, example, options);
    classes.push_back({.ring_GBps = one.port_GBps,
                       .count = one.count,
                       .example = std::move(example),
                       .bound = std::move(bound)});
  }
  return classes;
}

/// Adds a candidate to the class of this figure, or begins it.
void add(std::map<double, SetClass, std::greater<>>& classes, double figure,
         const Candidate& candidate) {
  SetClass& one = classes[figure];
  one.count = add_counts(one.count, candidate.count);
  if (one.example.empty() || candidate.set < one.example) one.example = candidate.set;
}

std::vector<SetClass> finished(const Graph& graph,
                               const std::map<double, SetClass, std::greater<>>& classes,
                               const BoundOptions& options) {
  std::vector<SetClass> list;
  for (const auto& [figure, sets] : classes) {
    SetClass one = sets;
    one.bound = bound_of(graph, one.example, options);
    one.ring_GBps = one.bound.ring_GBps;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

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
    if (const auto ports = star_ports(graph, pool, options)) {
      return star_set_classes(graph, *ports, count, options);
    }
  }
  const Rater rater(graph, pool, options);
  const auto candidates = candidates_of(pool, count, rater, TieBreaker(graph));
  const std::vector<DeviceSet> sets = sets_of(candidates);
  const std::vector<Figures> figures = rater.rate_all(sets, rater.first().groups(sets));
  std::map<double, SetClass, std::greater<>> rings;
  std::map<double, SetClass, std::greater<>> fallbacks;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    add(rings, figures[i].ring_GBps, candidates[i]);
    if (figures[i].ring_GBps <= 0) add(fallbacks, figures[i].bound_GBps, candidates[i]);
  }
  std::vector<SetClass> classes = finished(graph, rings, options);
  if (count >= 2 && !fallbacks.empty() && fallbacks.begin()->first > 0) {
    classes.back().fallback = finished(graph, fallbacks, options);
  }
  return classes;
}

}  // namespace busbar::topo
