// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/host_network.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "topo/bounds/bound.hpp"

namespace busbar::topo {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The parts of a host that its devices' traffic may pass: not another GPU, not another host.
bool is_usable(const Node& node, int host, bool is_ours) {
  if (node.host >= 0 && node.host != host) return false;
  return is_ours || (node.kind != NodeKind::Gpu && node.kind != NodeKind::Processor);
}

}  // namespace

double host_network_GBps(const Cluster& cluster, const HostPart& part,
                         const BoundOptions& options) {
  const Graph& graph = cluster.graph();
  const int host = cluster.host_number(part);
  std::set<int> ours;
  for (const int index : cluster.indices(part)) {
    ours.insert(graph.devices.at(static_cast<std::size_t>(index)));
  }
  const auto usable = [&](int node) {
    return is_usable(graph.nodes.at(static_cast<std::size_t>(node)), host, ours.contains(node));
  };
  std::vector<FlowLink> flows;
  for (const Link& link : graph.links) {
    if (!usable(link.from) || !usable(link.to)) continue;
    flows.push_back({.from = link.from,
                     .to = link.to,
                     .capacity = capacity_GBps(graph, link, options.constants, options.flows)});
  }
  const std::array<int, 2> ends{static_cast<int>(graph.nodes.size()),
                                static_cast<int>(graph.nodes.size()) + 1};
  const auto join = [&](int node, int end) {
    flows.push_back({.from = node, .to = end, .capacity = kUnlimited});
    flows.push_back({.from = end, .to = node, .capacity = kUnlimited});
  };
  for (const int node : ours) join(node, ends[0]);
  bool reached = false;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].kind != NodeKind::Network) continue;
    join(static_cast<int>(node), ends[1]);
    reached = true;
  }
  return reached ? minimum_cut(flows, ends).value : 0;
}

}  // namespace busbar::topo
