// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/collective.hpp"
#include "topo/bounds/cut.hpp"
#include "topo/bounds/limit.hpp"
#include "topo/bounds/limiting.hpp"
#include "topo/bounds/packing.hpp"
#include "topo/bounds/paths.hpp"
#include "topo/bounds/switched.hpp"

namespace busbar::topo {
namespace {

void check_devices(const Graph& graph, std::span<const int> devices) {
  std::set<int> seen;
  for (const int index : devices) {
    require_device(index, device_count(graph), graph.name);
    if (!seen.insert(index).second) {
      throw usage_error(fmt::format("--devices: {} is there twice; name each device once", index));
    }
  }
}

/// The links of a table's paths, with and without a limit, as a network for cuts.
struct Crossing {
  std::vector<int> links{};
  Cut cut{};
};

Crossing cut_of(const Graph& graph, std::span<const int> devices, const PathTable& table) {
  std::set<int> used;
  for (std::size_t k = 0; k < devices.size() * devices.size(); ++k) {
    const auto& path = table.between(k / devices.size(), k % devices.size());
    if (!path) continue;
    for (const Use& use : path->uses) used.insert(use.resource);
  }
  Crossing crossing{.links = {used.begin(), used.end()}};
  std::vector<FlowLink> flows;
  for (const int number : crossing.links) {
    const Link& link = graph.links[static_cast<std::size_t>(number)];
    flows.push_back({.from = link.from, .to = link.to, .capacity = table.capacity_GBps(number)});
  }
  std::vector<int> nodes;
  for (const int index : devices) {
    nodes.push_back(graph.devices[static_cast<std::size_t>(index)]);
  }
  crossing.cut = minimum_cut(flows, nodes);
  return crossing;
}

/// What limits, by the simplest proof; by the cut where that is the only one.
std::string limit_of(const Graph& graph, const Bound& bound, const RingPacking& packing,
                     const LinkProblem& problem, const Crossing& crossing) {
  if (bound.bound_GBps <= 0) return "no ring closes";
  if (!std::isfinite(bound.bound_GBps)) return "nothing that is known";
  const Limiting proof = limiting(problem.rings, packing);
  LimitingLinks limit{.all = problem.links};
  for (const int resource : proof.resources) {
    limit.links.push_back(problem.links[static_cast<std::size_t>(resource)]);
  }
  for (const int place : proof.devices) {
    limit.owners.push_back(bound.devices[static_cast<std::size_t>(place)]);
  }
  if (limit.links.empty() && crossing.cut.value <= packing.upper) {
    for (const int place : crossing.cut.links) {
      limit.links.push_back(crossing.links[static_cast<std::size_t>(place)]);
    }
  }
  return limit_in_words(graph, limit, bound.devices);
}

Way ways_of(const PathTable& table, const std::vector<PackedRing>& rings) {
  Way ways = Way::None;
  for (const PackedRing& ring : rings) {
    for (std::size_t k = 0; k < ring.order.size(); ++k) {
      const auto from = static_cast<std::size_t>(ring.order[k]);
      const auto to = static_cast<std::size_t>(ring.order[(k + 1) % ring.order.size()]);
      ways = ways | table.between(from, to)->ways;
    }
  }
  return ways;
}

/// The graph's assumptions about the kinds of link that the rings take; all of them where no ring
/// closes.
void add_assumptions(const Graph& graph, const std::set<LinkKind>& kinds, Bound& bound) {
  for (const Assumption& assumption : graph.assumptions) {
    if (kinds.empty() || kinds.contains(assumption.kind)) {
      bound.assumptions.push_back(assumption.text);
    }
  }
}

std::set<LinkKind> kinds_of(const Graph& graph, const PathTable& table,
                            const std::vector<PackedRing>& rings) {
  std::set<LinkKind> kinds;
  for (const PackedRing& ring : rings) {
    for (std::size_t k = 0; k < ring.order.size(); ++k) {
      const auto from = static_cast<std::size_t>(ring.order[k]);
      const auto to = static_cast<std::size_t>(ring.order[(k + 1) % ring.order.size()]);
      for (const Use& use : table.between(from, to)->uses) {
        const Link& link = graph.links[static_cast<std::size_t>(use.resource)];
        kinds.insert(graph.media[static_cast<std::size_t>(link.medium)].kind);
      }
    }
  }
  return kinds;
}

std::vector<RatedRing> named(const std::vector<PackedRing>& rings,
                             const std::vector<int>& devices) {
  std::vector<RatedRing> named;
  for (const PackedRing& ring : rings) {
    RatedRing& one = named.emplace_back();
    one.GBps = ring.rate;
    for (const int place : ring.order) {
      one.devices.push_back(devices[static_cast<std::size_t>(place)]);
    }
  }
  return named;
}

/// The bound with the paths of one level; false where no ring was found and another level is left.
bool bound_at(Level level, const Graph& graph, const BoundOptions& options, Bound& bound) {
  const std::size_t n = bound.devices.size();
  const PathTable table(graph, bound.devices, level, options);
  std::vector<std::size_t> places(n);
  std::iota(places.begin(), places.end(), std::size_t{0});
  const LinkProblem problem = problem_of(table, places);
  const Crossing crossing = cut_of(graph, bound.devices, table);
  const RingPacking packing = pack_rings(problem.rings, {.known_upper = crossing.cut.value});
  if (packing.value <= 0 && level == Level::NvLink) {
    bound.exact = packing.exact;
    return false;
  }
  bound.bound_GBps = packing.exact ? packing.value : packing.upper;
  bound.lower_GBps = packing.value;
  bound.exact = bound.exact && packing.exact;
  bound.cut_GBps = crossing.cut.value;
  const Way ways = ways_of(table, packing.rings);
  bound.kind = words(ways);
  bound.rings = named(packing.rings, bound.devices);
  add_assumptions(graph, kinds_of(graph, table, packing.rings), bound);
  bound.limit =
      bound.bound_GBps > 0 ? limit_of(graph, bound, packing, problem, crossing) : "no ring closes";
  const auto ranks = static_cast<double>(n);
  if (has(ways, Way::Network)) bound.tree_GBps = bound.cut_GBps * 2 * (ranks - 1) / ranks;
  return true;
}

bool spans_hosts(const Graph& graph, std::span<const int> devices) {
  return std::any_of(devices.begin(), devices.end(), [&](int index) {
    return device(graph, index).host != device(graph, devices.front()).host;
  });
}

void bound_switched(const Graph& graph, const SwitchedDomain& domain, Bound& bound) {
  bound.ring_GBps = domain.port_GBps;
  bound.cut_GBps = domain.port_GBps;
  bound.bound_GBps = domain.port_GBps;
  bound.lower_GBps = domain.port_GBps;
  bound.kind = words(Way::NvSwitch);
  bound.in_switch_GBps = domain.in_switch_GBps;
  bound.limit =
      limit_in_words(graph, {.links = domain.narrowest, .all = domain.links}, bound.devices);
  bound.rings = {{.devices = bound.devices, .GBps = domain.port_GBps}};
  add_assumptions(graph, {LinkKind::NvLink}, bound);
}

}  // namespace

std::optional<double> collective_GBps(const Bound& bound, std::string_view collective) {
  if (bound.devices.size() < 2) return std::nullopt;
  // Ranks of an imported all-to-all-v exchange unequal parts: no bound holds for all of them.
  const Collective* known = find_collective(collective);
  if (known == nullptr || !known->is_measured()) return std::nullopt;
  if (known->movement == Movement::AllReduce) {
    return std::max(
        {bound.bound_GBps, bound.in_switch_GBps.value_or(0), bound.tree_GBps.value_or(0)});
  }
  const bool bounded = is_ringed(known->movement) || bound.kind == words(Way::NvSwitch);
  return bounded ? std::optional{bound.bound_GBps} : std::nullopt;
}

Bound bound_of(const Graph& graph, std::span<const int> devices, const BoundOptions& options) {
  check_devices(graph, devices);
  Bound bound{.devices = {devices.begin(), devices.end()}, .kind = words(Way::None)};
  if (devices.size() < 2) return bound;
  if (const auto domain = switched_domain(graph, devices, options)) {
    bound_switched(graph, *domain, bound);
    return bound;
  }
  const Bound empty = bound;
  const Level first = first_level(graph);
  if (!bound_at(first, graph, options, bound)) {
    bound_at(Level::All, graph, options, bound);
    return bound;
  }
  bound.ring_GBps = bound.bound_GBps;
  if (first == Level::All || !spans_hosts(graph, devices)) return bound;
  // Where NVLink does not join the devices of a host, PCIe beside it spares the network.
  Bound with_pcie = empty;
  bound_at(Level::All, graph, options, with_pcie);
  with_pcie.ring_GBps = with_pcie.bound_GBps;
  constexpr double kNoise = 1e-9;
  return with_pcie.bound_GBps > bound.bound_GBps * (1 + kNoise) ? with_pcie : bound;
}

}  // namespace busbar::topo
