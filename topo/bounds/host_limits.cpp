// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/host_limits.hpp"

#include <cmath>

#include "topo/bounds/bottleneck.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {
namespace {

LinkKind slowest_step(const std::string& kind) {
  const auto has = [&](const char* part) { return kind.find(part) != std::string::npos; };
  if (has("pcie") || has("shared memory")) return LinkKind::Pcie;
  return has("smp") ? LinkKind::Smp : LinkKind::NvLink;
}

/// Joins these devices in one node and all networks in another, which it returns.
std::array<int, 2> join_ends(const Graph& graph, const std::set<int>& devices,
                             std::vector<FlowLink>& flows) {
  const auto nodes = static_cast<int>(graph.nodes.size());
  const std::array<int, 2> ends{nodes, nodes + 1};
  for (int node = 0; node < nodes; ++node) {
    const bool network = node_of(graph, node).kind == NodeKind::Network;
    if (!network && !devices.contains(node)) continue;
    const int end = network ? ends[1] : ends[0];
    flows.push_back({node, end, kInfinity});
    flows.push_back({end, node, kInfinity});
  }
  return ends;
}

}  // namespace

void take_ring(SetLimits& limits, double GBps, const std::string& kind, const std::string& limit) {
  if (GBps >= limits.ring_GBps) return;
  limits.ring_GBps = GBps;
  limits.kind = kind;
  limits.limit = limit;
}

void add_host(const Graph& graph, std::span<const int> devices, const BoundOptions& options,
              SetLimits& limits) {
  limits.most_on_host = std::max(limits.most_on_host, static_cast<int>(devices.size()));
  if (devices.size() < 2) return;
  const Bound bound = bound_of(graph, devices, options);
  limits.exact = limits.exact && bound.exact;
  const double added = bound.in_switch_GBps.value_or(0);
  limits.in_switch_GBps =
      std::isinf(limits.host_GBps) ? added : std::min(limits.in_switch_GBps, added);
  if (bound.bound_GBps < limits.host_GBps) {
    limits.host_GBps = bound.bound_GBps;
    limits.host_limit = bound.limit;
  }
  const LinkKind step = slowest_step(bound.kind);
  if (limits.within == LinkKind::NvLink || step == LinkKind::Pcie) limits.within = step;
  take_ring(limits, bound.bound_GBps, bound.kind, bound.limit);
}

NetworkCut network_cut(const Graph& graph, std::span<const int> devices,
                       const BoundOptions& options) {
  std::set<int> ours;
  for (const int index : devices) ours.insert(graph.devices.at(to_size(index)));
  const int host = device(graph, devices.front()).host;
  // Of a host its devices' traffic passes neither another GPU nor another host.
  const auto usable = [&](int number) {
    const Node& node = node_of(graph, number);
    const bool device = node.kind == NodeKind::Gpu || node.kind == NodeKind::Processor;
    return (node.host < 0 || node.host == host) && (!device || ours.contains(number));
  };
  NetworkCut result;
  std::vector<FlowLink> flows;
  for (const int number : network_links(graph, devices, options)) {
    const Link& link = graph.links[to_size(number)];
    if (!usable(link.from) || !usable(link.to)) continue;
    result.paths.push_back(number);
    flows.push_back(
        {link.from, link.to, capacity_GBps(graph, link, options.constants, options.flows)});
  }
  const std::array<int, 2> ends = join_ends(graph, ours, flows);
  const Cut cut = minimum_cut(flows, ends);
  result.GBps = cut.value;
  for (const int place : cut.links) result.links.push_back(result.paths[to_size(place)]);
  return result;
}

std::vector<NetworkCut> add_networks(const Graph& graph, std::span<const std::vector<int>> hosts,
                                     const BoundOptions& options, SetLimits& limits) {
  std::vector<NetworkCut> cuts;
  for (const std::vector<int>& devices : hosts) {
    cuts.push_back(network_cut(graph, devices, options));
    limits.network_GBps = std::min(limits.network_GBps, cuts.back().GBps);
  }
  Limiting limit;
  std::vector<int> paths;
  std::vector<int> all;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto& [GBps, links, of_host] = cuts[i];
    paths.insert(paths.end(), of_host.begin(), of_host.end());
    all.insert(all.end(), hosts[i].begin(), hosts[i].end());
    if (GBps > limits.network_GBps * (1 + kTolerance)) continue;
    limit.resources.insert(limit.resources.end(), links.begin(), links.end());
  }
  limits.network_limit =
      limit.resources.empty() ? "nothing that is known" : limit_text(graph, limit, paths, all);
  return cuts;
}

std::optional<double> between_hosts_seconds(const SetLimits& limits) {
  if (limits.hosts < 2) return 0;
  if (limits.network_GBps <= 0 || !std::isfinite(limits.network_GBps)) return std::nullopt;
  return 2.0 * (limits.hosts - 1) / limits.hosts / limits.network_GBps;
}

std::optional<double> chain_tree_seconds(const SetLimits& limits) {
  const auto between = between_hosts_seconds(limits);
  if (!between || limits.host_GBps <= 0) return std::nullopt;
  const double seconds = std::max(2 / limits.host_GBps, *between);
  return std::isfinite(seconds) && seconds > 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<double> switch_tree_seconds(const SetLimits& limits) {
  const auto between = between_hosts_seconds(limits);
  if (!between || limits.in_switch_GBps <= 0) return std::nullopt;
  const double ranks = limits.most_on_host;
  return std::max(2 * (ranks - 1) / ranks / limits.in_switch_GBps, *between);
}

std::optional<double> tree_GBps(const SetLimits& limits) {
  const double ranks = limits.ranks;
  double least = kInfinity;
  for (const auto seconds : {chain_tree_seconds(limits), switch_tree_seconds(limits)}) {
    least = std::min(least, seconds.value_or(kInfinity));
  }
  return std::isfinite(least) ? std::optional(2 * (ranks - 1) / ranks / least) : std::nullopt;
}

}  // namespace busbar::topo
