// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/host_copies.hpp"

#include <fmt/format.h>

namespace busbar::topo {
namespace {

bool is_shared(const Graph& graph, int node) {
  return graph.nodes.at(static_cast<std::size_t>(node)).host < 0;
}

/// [host][node of the one]: its number in the copy.
using Numbers = std::vector<std::vector<int>>;

Numbers copy_nodes(Graph& copy, const Graph& one, int hosts) {
  Numbers numbers(static_cast<std::size_t>(hosts), std::vector<int>(one.nodes.size()));
  for (std::size_t host = 0; host < numbers.size(); ++host) {
    for (std::size_t i = 0; i < one.nodes.size(); ++i) {
      Node node = one.nodes[i];
      if (node.host < 0) continue;
      node.name = fmt::format("host{}/{}", host, node.name);
      node.host = static_cast<int>(host);
      numbers[host][i] = add_node(copy, std::move(node));
    }
  }
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    if (one.nodes[i].host >= 0) continue;
    const int number = add_node(copy, one.nodes[i]);
    for (std::vector<int>& of_host : numbers) of_host[i] = number;
  }
  return numbers;
}

void copy_links(Graph& copy, const Graph& one, const Numbers& numbers) {
  for (std::size_t host = 0; host < numbers.size(); ++host) {
    for (const Link& link : one.links) {
      if (host > 0 && is_shared(one, link.from) && is_shared(one, link.to)) continue;
      Link copied = link;
      copied.from = numbers[host][static_cast<std::size_t>(link.from)];
      copied.to = numbers[host][static_cast<std::size_t>(link.to)];
      copy.links.push_back(copied);
    }
  }
}

/// Between hosts nothing is known: PCIe does not reach there.
void copy_p2p(Graph& copy, const Graph& one, int hosts) {
  if (one.p2p.empty()) return;
  const std::size_t each = one.devices.size();
  const std::size_t all = each * static_cast<std::size_t>(hosts);
  copy.p2p.assign(all, std::vector<P2p>(all, P2p::Unknown));
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t first = i - i % each;
    for (std::size_t j = 0; j < each; ++j) copy.p2p[i][first + j] = one.p2p[i % each][j];
  }
}

}  // namespace

Graph copy_hosts(const Graph& one, int hosts) {
  Graph copy{.name = one.name,
             .title = one.title,
             .source = one.source,
             .media = one.media,
             .warnings = one.warnings,
             .assumptions = one.assumptions,
             .protocol = one.protocol};
  const Numbers numbers = copy_nodes(copy, one, hosts);
  copy_links(copy, one, numbers);
  for (const std::vector<int>& of_host : numbers) {
    for (const int device : one.devices) {
      copy.devices.push_back(of_host[static_cast<std::size_t>(device)]);
    }
  }
  copy_p2p(copy, one, hosts);
  return copy;
}

}  // namespace busbar::topo
