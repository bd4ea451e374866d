// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "base/error.hpp"
#include "model/collective.hpp"
#include "topo/bounds/bottleneck.hpp"
#include "topo/bounds/packing.hpp"
#include "topo/bounds/paths.hpp"

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

PathKind kinds_used(const PathTable& table, const std::vector<PackedRing>& rings) {
  PathKind kinds = PathKind::None;
  for (const PackedRing& ring : rings) {
    for (std::size_t k = 0; k < ring.order.size(); ++k) {
      const auto from = static_cast<std::size_t>(ring.order[k]);
      const auto to = static_cast<std::size_t>(ring.order[(k + 1) % ring.order.size()]);
      kinds = kinds | table.between(from, to)->kinds;
    }
  }
  return kinds;
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
  const PathKind kinds = kinds_used(table, packing.rings);
  bound.kind = describe(kinds);
  bound.rings = named(packing.rings, bound.devices);
  add_assumptions(graph, kinds_of(graph, table, packing.rings), bound);
  bound.limit =
      bound.bound_GBps > 0 ? limit_of(graph, bound, packing, problem, crossing) : "no ring closes";
  const auto ranks = static_cast<double>(n);
  if (has(kinds, PathKind::Network)) bound.tree_GBps = bound.cut_GBps * 2 * (ranks - 1) / ranks;
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
  bound.kind = describe(PathKind::NvSwitch);
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
  const bool bounded = is_ringed(known->movement) || bound.kind == describe(PathKind::NvSwitch);
  return bounded ? std::optional{bound.bound_GBps} : std::nullopt;
}

Bound bound_of(const Graph& graph, std::span<const int> devices, const BoundOptions& options) {
  check_devices(graph, devices);
  Bound bound{.devices = {devices.begin(), devices.end()}, .kind = describe(PathKind::None)};
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

namespace {

using Network = lemon::SmartDigraph;
using Capacities = Network::ArcMap<std::int64_t>;

/// Flows are computed in bytes per second: with whole numbers every comparison
/// is exact, where doubles would need a tolerance.
constexpr double kScale = 1e9;

class CutSearch {
 public:
  explicit CutSearch(std::span<const FlowLink> links) : links_(links), capacities_(network_) {
    std::int64_t sum = 1;
    for (const FlowLink& link : links) {
      if (std::isfinite(link.capacity)) sum += whole(link.capacity);
    }
    for (const FlowLink& link : links) {
      const Network::Arc arc = network_.addArc(node(link.from), node(link.to));
      capacities_[arc] = std::isfinite(link.capacity) ? whole(link.capacity) : sum;
    }
    unlimited_ = sum;
    least_ = sum;
  }

  void part(int source, int target) {
    lemon::Preflow<Network, Capacities> flow(network_, capacities_, node(source), node(target));
    flow.runMinCut();
    if (flow.flowValue() >= least_) return;
    least_ = flow.flowValue();
    cut_.links.clear();
    for (std::size_t k = 0; k < links_.size(); ++k) {
      if (flow.minCut(node(links_[k].from)) && !flow.minCut(node(links_[k].to))) {
        cut_.links.push_back(static_cast<int>(k));
      }
    }
  }

  [[nodiscard]] Cut best() {
    if (least_ >= unlimited_) cut_.value = std::numeric_limits<double>::infinity();
    for (const int link : cut_.links) cut_.value += links_[static_cast<std::size_t>(link)].capacity;
    return cut_;
  }

 private:
  static std::int64_t whole(double capacity) { return std::llround(capacity * kScale); }

  Network::Node node(int number) {
    const auto known = nodes_.find(number);
    if (known != nodes_.end()) return known->second;
    return nodes_.emplace(number, network_.addNode()).first->second;
  }

  std::span<const FlowLink> links_;
  Network network_{};
  Capacities capacities_;
  std::map<int, Network::Node> nodes_{};
  std::int64_t unlimited_ = 0;
  std::int64_t least_ = 0;
  Cut cut_{};
};

}  // namespace

Cut minimum_cut(std::span<const FlowLink> links, std::span<const int> terminals) {
  CutSearch search(links);
  for (const int other : terminals.subspan(1)) {
    search.part(terminals.front(), other);
    search.part(other, terminals.front());
  }
  return search.best();
}

namespace {

constexpr double kTolerance = 1e-9;

/// Both directions between one device and one switch.
struct Port {
  double up_GBps = 0;
  double down_GBps = 0;
};

struct DevicePorts {
  std::map<int, Port> by_switch{};
  std::vector<int> links{};
};

/// The NVLinks that end at each device of the set; a link between two of them counts for both.
std::vector<std::vector<int>> nvlinks_of(const Graph& graph, std::span<const int> devices) {
  std::map<int, std::size_t> places;  // of a node in the set
  for (std::size_t k = 0; k < devices.size(); ++k) {
    places[graph.devices.at(static_cast<std::size_t>(devices[k]))] = k;
  }
  std::vector<std::vector<int>> links(devices.size());
  for (std::size_t number = 0; number < graph.links.size(); ++number) {
    const Link& link = graph.links[number];
    if (graph.media.at(static_cast<std::size_t>(link.medium)).kind != LinkKind::NvLink) continue;
    for (const int end : {link.from, link.to}) {
      const auto place = places.find(end);
      if (place != places.end()) links[place->second].push_back(static_cast<int>(number));
    }
  }
  return links;
}

/// Ports of each device of the set; nothing where one has NVLink straight to another GPU.
std::vector<DevicePorts> ports_of(const Graph& graph, std::span<const int> devices,
                                  const BoundOptions& options) {
  const std::vector<std::vector<int>> links = nvlinks_of(graph, devices);
  std::vector<DevicePorts> ports(devices.size());
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const int own = graph.devices[static_cast<std::size_t>(devices[k])];
    for (const int number : links[k]) {
      const Link& link = graph.links[static_cast<std::size_t>(number)];
      const bool up = link.from == own;
      const int other = up ? link.to : link.from;
      const NodeKind kind = graph.nodes.at(static_cast<std::size_t>(other)).kind;
      if (kind == NodeKind::Gpu) return {};
      if (kind != NodeKind::NvSwitch) continue;
      Port& port = ports[k].by_switch[other];
      (up ? port.up_GBps : port.down_GBps) +=
          capacity_GBps(graph, link, options.constants, options.flows);
      ports[k].links.push_back(number);
    }
  }
  return ports;
}

double whole_port(const DevicePorts& ports) {
  Port sum;
  for (const auto& [number, port] : ports.by_switch) {
    sum.up_GBps += port.up_GBps;
    sum.down_GBps += port.down_GBps;
  }
  return std::min(sum.up_GBps, sum.down_GBps);
}

/// Bandwidth of one ring when each switch takes what its narrowest port can.
double evenly(const std::vector<DevicePorts>& ports) {
  double sum = 0;
  for (const auto& [number, first] : ports.front().by_switch) {
    double least = std::numeric_limits<double>::infinity();
    for (const DevicePorts& device : ports) {
      const auto port = device.by_switch.find(number);
      if (port == device.by_switch.end()) return 0;
      least = std::min({least, port->second.up_GBps, port->second.down_GBps});
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
  const std::span<const double> speeds =
      blackwell ? std::span<const double>(kBlackwell) : std::span<const double>(kHopper);
  const auto speed = std::find_if(speeds.begin(), speeds.end(),
                                  [&](double one) { return one * (n + 1) <= port_GBps; });
  if (speed == speeds.end()) return std::nullopt;
  return 2 * (blackwell ? kBlackwellEfficiency : kHopperEfficiency) * *speed * (n - 1);
}

std::optional<double> in_switch(const Graph& graph, const DevicePorts& ports, double port_GBps,
                                double n, ConstantSet constants) {
  for (const auto& [number, port] : ports.by_switch) {
    if (!graph.nodes.at(static_cast<std::size_t>(number)).reduces) return std::nullopt;
  }
  // A GPU sends its whole buffer for the others' sums, and its own share once for all.
  if (constants != ConstantSet::Nccl) return 2 * port_GBps * (n - 1) / (n + 1);
  const Link& link = graph.links[static_cast<std::size_t>(ports.links.front())];
  const Medium& medium = graph.media[static_cast<std::size_t>(link.medium)];
  constexpr double kBlackwellLink = 40;  // GB/s: 40.1 of one link, where Hopper has 20.6
  return nccl_in_switch(port_GBps, n, medium.nccl_GBps >= kBlackwellLink);
}

}  // namespace

std::optional<SwitchedDomain> switched_domain(const Graph& graph, std::span<const int> devices,
                                              const BoundOptions& options) {
  const std::vector<DevicePorts> ports = ports_of(graph, devices, options);
  if (ports.empty()) return std::nullopt;
  SwitchedDomain domain{.port_GBps = std::numeric_limits<double>::infinity()};
  for (const DevicePorts& device : ports) {
    domain.port_GBps = std::min(domain.port_GBps, whole_port(device));
  }
  if (!std::isfinite(domain.port_GBps) || evenly(ports) < domain.port_GBps * (1 - kTolerance) ||
      domain.port_GBps <= 0) {
    return std::nullopt;
  }
  for (const DevicePorts& device : ports) {
    domain.links.insert(domain.links.end(), device.links.begin(), device.links.end());
    if (whole_port(device) > domain.port_GBps * (1 + kTolerance)) continue;
    domain.narrowest.insert(domain.narrowest.end(), device.links.begin(), device.links.end());
  }
  domain.in_switch_GBps = in_switch(graph, ports.front(), domain.port_GBps,
                                    static_cast<double>(devices.size()), options.constants);
  return domain;
}

}  // namespace busbar::topo
