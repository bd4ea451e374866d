// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bound.hpp"

#include <cmath>

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "model/collective.hpp"
#include "topo/bounds/bottleneck.hpp"
#include "topo/bounds/host_limits.hpp"
#include "topo/bounds/packing.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {
namespace {

void check_devices(const Graph& graph, std::span<const int> devices) {
  std::set<int> seen;
  for (const int index : devices) {
    require_device(index, device_count(graph), graph.name);
    if (!seen.insert(index).second) {
      throw usage_error("--devices: {} appears twice; name each device once", index);
    }
  }
}

/// Links of a table's paths, with and without a limit, and which of them are the least cut.
struct Crossing {
  std::vector<int> links{};
  Cut cut{};
};

Crossing cut_of(const Graph& graph, std::span<const int> devices, const PathTable& table) {
  std::set<int> used;
  const auto n = static_cast<int>(devices.size());
  for (int k = 0; k < n * n; ++k) {
    const auto& path = table.between(k / n, k % n);
    for (const Use& use : path ? path->uses : std::vector<Use>{}) used.insert(use.resource);
  }
  Crossing crossing{.links = {used.begin(), used.end()}};
  std::vector<FlowLink> flows;
  for (const int number : crossing.links) {
    const Link& link = graph.links[to_size(number)];
    flows.push_back({.from = link.from, .to = link.to, .capacity = table.capacity_GBps(number)});
  }
  const auto nodes = mapped(devices, [&](int index) { return graph.devices[to_size(index)]; });
  crossing.cut = minimum_cut(flows, nodes);
  return crossing;
}

/// What limits, by the simplest proof; by the cut where that is the only one.
std::string limit_of(const Graph& graph, const Bound& bound, const RingPacking& packing,
                     const LinkProblem& problem, const Crossing& crossing) {
  if (bound.bound_GBps <= 0) return "no ring closes";
  if (!std::isfinite(bound.bound_GBps)) return "nothing that is known";
  Limiting limit = limiting(problem.rings, packing);
  for (int& resource : limit.resources) resource = problem.links[to_size(resource)];
  for (int& place : limit.devices) place = bound.devices[to_size(place)];
  if (limit.resources.empty() && crossing.cut.value <= packing.upper) {
    limit.resources =
        mapped(crossing.cut.links, [&](int place) { return crossing.links[to_size(place)]; });
  }
  return limit_text(graph, limit, problem.links, bound.devices);
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

/// Sets the rings and what they go over; returns that.
PathKinds add_rings(const Graph& graph, const PathTable& table,
                    const std::vector<PackedRing>& rings, Bound& bound) {
  PathKinds paths;
  std::set<LinkKind> links;
  for (const PackedRing& ring : rings) {
    RatedRing& rated = bound.rings.emplace_back();
    rated.GBps = ring.rate;
    for (std::size_t k = 0; k < ring.order.size(); ++k) {
      rated.devices.push_back(bound.devices[to_size(ring.order[k])]);
      const auto& path = table.between(ring.order[k], ring.order[(k + 1) % ring.order.size()]);
      paths.insert(path->kinds.begin(), path->kinds.end());
      for (const Use& use : path->uses) {
        links.insert(link_kind(graph, graph.links[to_size(use.resource)]));
      }
    }
  }
  bound.kind = describe(paths);
  add_assumptions(graph, links, bound);
  return paths;
}

/// What trees and exchanges between the hosts of the set reach.
void add_between_hosts(const Graph& graph, const BoundOptions& options, Bound& bound) {
  SetLimits limits{.ranks = static_cast<int>(bound.devices.size())};
  std::vector<std::vector<int>> hosts;
  for (auto& [host, devices] : by_host(graph, bound.devices)) {
    add_host(graph, devices, options, limits);
    hosts.push_back(devices);
  }
  limits.hosts = static_cast<int>(hosts.size());
  const std::vector<NetworkCut> cuts = add_networks(graph, hosts, options, limits);
  bound.tree_GBps = tree_GBps(limits);
  // Of n ranks of a host each exchanges (N - n)/N of the size with the others by the host's
  // network, and bus bandwidth counts (N - 1)/N of it.
  const double all = limits.ranks;
  double least = kInfinity;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto ranks = static_cast<double>(hosts[i].size());
    least = std::min(least, cuts[i].GBps * (all - 1) / (ranks * (all - ranks)));
  }
  if (std::isfinite(least)) bound.alltoall_GBps = least;
}

/// The bound with the paths of one level; false where no ring was found and another level is left.
bool bound_at(Level level, const Graph& graph, const BoundOptions& options, Bound& bound) {
  const PathTable table(graph, bound.devices, level, options);
  const LinkProblem problem = problem_of(table, first_numbers(bound.devices.size()));
  const Crossing crossing = cut_of(graph, bound.devices, table);
  const RingPacking packing = pack_rings(problem.rings, crossing.cut.value);
  if (packing.value <= 0 && level == Level::GpuLink) {
    bound.exact = packing.exact;
    return false;
  }
  bound.bound_GBps = packing.exact ? packing.value : packing.upper;
  bound.lower_GBps = packing.value;
  bound.exact = bound.exact && packing.exact;
  bound.cut_GBps = crossing.cut.value;
  const PathKinds kinds = add_rings(graph, table, packing.rings, bound);
  bound.limit = limit_of(graph, bound, packing, problem, crossing);
  if (kinds.contains(PathKind::Network)) add_between_hosts(graph, options, bound);
  return true;
}

void bound_switched(const Graph& graph, const SwitchedDomain& domain, Bound& bound) {
  bound.ring_GBps = domain.port_GBps;
  bound.cut_GBps = domain.port_GBps;
  bound.bound_GBps = domain.port_GBps;
  bound.lower_GBps = domain.port_GBps;
  bound.kind = describe({PathKind::NvSwitch});
  bound.in_switch_GBps = domain.in_switch_GBps;
  bound.limit = limit_text(graph, {.resources = domain.narrowest}, domain.links, bound.devices);
  bound.rings = {{.devices = bound.devices, .GBps = domain.port_GBps}};
  add_assumptions(graph, {LinkKind::NvLink}, bound);
}

/// In bytes per second: with whole numbers every comparison is exact, where doubles would need a
/// tolerance.
std::int64_t whole_capacity(const FlowLink& link) {
  constexpr double kScale = 1e9;
  return std::llround(link.capacity * kScale);
}

/// More than all links with a limit have together.
std::int64_t beyond_all(std::span<const FlowLink> links) {
  std::int64_t sum = 1;
  for (const FlowLink& link : links) {
    if (std::isfinite(link.capacity)) sum += whole_capacity(link);
  }
  return sum;
}

struct DevicePorts {
  std::map<int, std::array<double, 2>> by_switch{};  ///< GB/s to it and back
  std::vector<int> links{};

  [[nodiscard]] double whole_GBps() const {
    std::array<double, 2> sum{};
    for (const auto& [number, port] : by_switch) {
      sum = {sum[0] + port[0], sum[1] + port[1]};
    }
    return std::ranges::min(sum);
  }
};

/// Ports of each device of the set; nothing where one has NVLink straight to another GPU.
std::vector<DevicePorts> ports_of(const Graph& graph, std::span<const int> devices,
                                  const BoundOptions& options) {
  std::map<int, std::size_t> places;  // of a node in the set
  for (const int index : devices) {
    places.try_emplace(graph.devices.at(to_size(index)), places.size());
  }
  std::vector<DevicePorts> ports(devices.size());
  for (std::size_t number = 0; number < graph.links.size(); ++number) {
    const Link& link = graph.links[number];
    if (!is_gpu_link(link_kind(graph, link))) continue;
    for (const auto& [device, other, way] :
         {std::array{link.from, link.to, 0}, std::array{link.to, link.from, 1}}) {
      const auto place = places.find(device);
      if (place == places.end()) continue;
      const NodeKind kind = node_of(graph, other).kind;
      if (kind == NodeKind::Gpu) return {};
      if (kind != NodeKind::NvSwitch) continue;
      DevicePorts& own = ports[place->second];
      own.by_switch[other].at(to_size(way)) +=
          capacity_GBps(graph, link, options.constants, options.flows);
      own.links.push_back(static_cast<int>(number));
    }
  }
  return ports;
}

/// Bandwidth of one ring when each switch takes what its narrowest port can.
double evenly(const std::vector<DevicePorts>& ports) {
  double sum = 0;
  for (const auto& [number, first] : ports.front().by_switch) {
    double least = kInfinity;
    for (const DevicePorts& device : ports) {
      const auto port = device.by_switch.find(number);
      if (port == device.by_switch.end()) return 0;
      least = std::min(least, std::ranges::min(port->second));
    }
    sum += least;
  }
  return sum;
}

/// NCCL's prediction: n channels at the greatest listed speed s of which each GPU's port has room
/// for n + 1, in 2(n-1)/n of all-reduce: 2 e s (n-1), with e of src/graph/tuning.cc and the lists
/// of src/graph/search.cc, Blackwell's as of 2.29.2: before that 45 was not on it.
std::optional<double> nccl_in_switch(double port_GBps, double n, bool blackwell) {
  constexpr std::array kHopper{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
  constexpr std::array kBlackwell{90.0, 80.0, 70.0, 60.0, 50.0, 45.0,
                                  40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
  constexpr double kHopperEfficiency = 0.85;
  constexpr double kBlackwellEfficiency = 0.74;
  for (const double speed : blackwell ? std::span<const double>(kBlackwell) : kHopper) {
    if (speed * (n + 1) > port_GBps) continue;
    return 2 * (blackwell ? kBlackwellEfficiency : kHopperEfficiency) * speed * (n - 1);
  }
  return std::nullopt;
}

std::optional<double> in_switch(const Graph& graph, const DevicePorts& ports, double port_GBps,
                                double n, ConstantSet constants) {
  for (const auto& [number, port] : ports.by_switch) {
    if (!node_of(graph, number).reduces) return std::nullopt;
  }
  if (constants != ConstantSet::Nccl) return in_switch_GBps(port_GBps, n);
  const Link& link = graph.links[to_size(ports.links.front())];
  constexpr double kBlackwellLink = 40;  // GB/s: 40.1 of one link, where Hopper has 20.6
  return nccl_in_switch(port_GBps, n, medium_of(graph, link).nccl_GBps >= kBlackwellLink);
}

}  // namespace

std::optional<double> collective_GBps(const Bound& bound, std::string_view collective) {
  if (bound.devices.size() < 2) return std::nullopt;
  const Collective* known = find_collective(collective);
  if (known == nullptr) return std::nullopt;
  if (!known->equal_parts) {  // bus bandwidth is of the fullest port
    const bool by_port =
        known->movement == Movement::AllToAll && bound.kind == describe({PathKind::NvSwitch});
    return by_port ? std::optional{bound.bound_GBps} : std::nullopt;
  }
  if (known->movement == Movement::AllReduce) {
    return std::max(
        {bound.bound_GBps, bound.in_switch_GBps.value_or(0), bound.tree_GBps.value_or(0)});
  }
  if (known->movement == Movement::AllToAll && bound.alltoall_GBps) return bound.alltoall_GBps;
  const bool bounded = is_ringed(known->movement) || bound.kind == describe({PathKind::NvSwitch});
  return bounded ? std::optional{bound.bound_GBps} : std::nullopt;
}

Bound bound_of(const Graph& graph, std::span<const int> devices, const BoundOptions& options) {
  check_devices(graph, devices);
  Bound bound{.devices = {devices.begin(), devices.end()},
              .kind = describe({}),
              .gpu_link = gpu_link_kind(graph)};
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
  if (first == Level::All || by_host(graph, devices).size() < 2) return bound;
  // Where NVLink does not join the devices of a host, PCIe beside it spares the network.
  Bound with_pcie = empty;
  bound_at(Level::All, graph, options, with_pcie);
  with_pcie.ring_GBps = with_pcie.bound_GBps;
  return with_pcie.bound_GBps > bound.bound_GBps * (1 + kTolerance) ? with_pcie : bound;
}

Cut minimum_cut(std::span<const FlowLink> links, std::span<const int> terminals) {
  const std::int64_t unlimited = beyond_all(links);
  using Capacities = lemon::SmartDigraph::ArcMap<std::int64_t>;
  lemon::SmartDigraph network;
  Capacities capacities(network);
  std::map<int, lemon::SmartDigraph::Node> nodes;
  const auto node = [&](int number) {
    const auto [there, is_new] = nodes.try_emplace(number);
    if (is_new) there->second = network.addNode();
    return there->second;
  };
  for (const FlowLink& link : links) {
    const auto from = node(link.from);
    const auto arc = network.addArc(from, node(link.to));
    capacities[arc] = std::isfinite(link.capacity) ? whole_capacity(link) : unlimited;
  }
  std::ranges::for_each(terminals, node);
  Cut cut{.value = kInfinity};
  std::int64_t least = unlimited;
  const auto part = [&](int source, int target) {
    lemon::Preflow<lemon::SmartDigraph, Capacities> flow(network, capacities, node(source),
                                                         node(target));
    flow.runMinCut();
    if (flow.flowValue() >= least) return;
    least = flow.flowValue();
    cut = {};
    for (std::size_t k = 0; k < links.size(); ++k) {
      if (!flow.minCut(node(links[k].from)) || flow.minCut(node(links[k].to))) continue;
      cut.links.push_back(static_cast<int>(k));
      cut.value += links[k].capacity;
    }
  };
  for (const int other : terminals.subspan(1)) {
    part(terminals.front(), other);
    part(other, terminals.front());
  }
  return cut;
}

double in_switch_GBps(double port_GBps, double ranks) {
  return 2 * port_GBps * (ranks - 1) / (ranks + 1);
}

std::optional<SwitchedDomain> switched_domain(const Graph& graph, std::span<const int> devices,
                                              const BoundOptions& options) {
  const std::vector<DevicePorts> ports = ports_of(graph, devices, options);
  if (ports.empty()) return std::nullopt;
  SwitchedDomain domain{.port_GBps = kInfinity};
  for (const DevicePorts& device : ports) {
    domain.port_GBps = std::min(domain.port_GBps, device.whole_GBps());
  }
  if (!std::isfinite(domain.port_GBps) || evenly(ports) < domain.port_GBps * (1 - kTolerance) ||
      domain.port_GBps <= 0) {
    return std::nullopt;
  }
  for (const DevicePorts& device : ports) {
    append(domain.links, device.links);
    if (device.whole_GBps() > domain.port_GBps * (1 + kTolerance)) continue;
    append(domain.narrowest, device.links);
  }
  domain.in_switch_GBps = in_switch(graph, ports.front(), domain.port_GBps,
                                    static_cast<double>(devices.size()), options.constants);
  return domain;
}

}  // namespace busbar::topo
