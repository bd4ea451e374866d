// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/joined_hosts.hpp"

#include <limits>

#include "base/units.hpp"

namespace busbar::topo {
namespace {

bool is_shared(const Graph& graph, int node) { return node_of(graph, node).host < 0; }

/// [host][node of the one]: its number in the copy.
using Numbers = std::vector<std::vector<int>>;

Numbers copy_nodes(Graph& copy, const Graph& one, int hosts) {
  Numbers numbers(to_size(hosts), std::vector<int>(one.nodes.size()));
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
      copied.from = numbers[host][to_size(link.from)];
      copied.to = numbers[host][to_size(link.to)];
      copy.links.push_back(copied);
    }
  }
}

/// Between hosts nothing is known: PCIe does not reach there.
void copy_p2p(Graph& copy, const Graph& one, int hosts) {
  if (one.p2p.empty()) return;
  const std::size_t each = one.devices.size();
  copy.p2p = square_matrix(each * to_size(hosts), [&](std::size_t i, std::size_t j) {
    return i / each == j / each ? one.p2p[i % each][j % each] : P2p::Unknown;
  });
}

/// Hops from an adapter to the nearest device.
std::size_t distance(const Graph& graph, int adapter) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const int device : graph.devices) {
    const std::size_t hops = shortest_way(graph, adapter, device).size();
    if (hops > 0) least = std::min(least, hops);
  }
  return least;
}

/// Where an adapter beside a device is plugged in: into the device's own switch or bridge.
Link slot_beside(Graph& graph, int device) {
  for (const Link& link : graph.links) {
    if (link.from == device && link_kind(graph, link) == LinkKind::Pcie) return link;
  }
  return {.to = device, .medium = add_medium(graph, {.name = "memory", .kind = LinkKind::Memory})};
}

std::vector<int> assumed_adapters(Graph& graph, std::size_t count) {
  std::vector<int> adapters;
  for (std::size_t i = 0; i < count; ++i) {
    const int device = graph.devices[i * graph.devices.size() / count];
    const Link slot = slot_beside(graph, device);
    adapters.push_back(add_node(graph, {.kind = NodeKind::Nic,
                                        .name = fmt::format("NIC{}", i),
                                        .numa = node_of(graph, device).numa}));
    add_cable(graph, adapters.back(), slot.to, slot.medium);
  }
  assume(graph, LinkKind::Network,
         fmt::format("{} spread evenly beside the devices, since the sources show none",
                     counted(count, "network adapter")));
  return adapters;
}

/// The `count` adapters nearest to the devices, of several the first.
std::vector<int> chosen_adapters(Graph& host, std::size_t count) {
  std::vector<int> adapters = nodes_of_kind(host, NodeKind::Nic);
  if (adapters.empty()) return assumed_adapters(host, count > 0 ? count : device_count(host));
  if (count > adapters.size()) {
    throw usage_error("--nic: {} adapters requested, but '{}' has {}", count, host.name,
                      adapters.size());
  }
  if (count == 0) return adapters;
  std::ranges::stable_sort(adapters, {}, [&](int adapter) { return distance(host, adapter); });
  adapters.resize(count);
  return adapters;
}

bool is_between_hosts(const Node& node) { return node.kind == NodeKind::NvSwitch && node.host < 0; }

}  // namespace

bool has_nvlink_domain(const Graph& host) {
  return std::ranges::any_of(host.nodes, is_between_hosts);
}

int most_hosts(const Graph& one) {
  int most = std::numeric_limits<int>::max();
  for (const Node& node : one.nodes) {
    if (node.most_hosts > 0) most = std::min(most, node.most_hosts);
  }
  return most;
}

void check_hosts(const Graph& one, int hosts) {
  if (hosts <= most_hosts(one)) return;
  throw usage_error(
      "{} hosts: an NVLink domain of '{}' has at most {}; for several domains name such a system "
      "(gb200-nvl72-x2, gb300-nvl72-x2), or give --nic",
      hosts, one.name, most_hosts(one));
}

Graph copy_hosts(const Graph& one, int hosts) {
  check_hosts(one, hosts);
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
    for (const int device : one.devices) copy.devices.push_back(of_host[to_size(device)]);
  }
  copy_p2p(copy, one, hosts);
  return copy;
}

NetworkRequest parse_network(std::string_view option, std::string_view text) {
  constexpr double kSlowest = 0.001;
  constexpr double kFastest = 10'000;
  constexpr int kMostAdapters = 100'000;
  NetworkRequest request;
  const std::size_t times = text.find('x');
  if (times != std::string_view::npos) {
    request.adapters =
        static_cast<int>(parse_integer(option, text.substr(0, times), 1, kMostAdapters));
    text.remove_prefix(times + 1);
  }
  request.adapter_GBps = parse_number(option, text, kSlowest, kFastest);
  return request;
}

bool leave_domain(Graph& host) {
  bool found = false;
  for (Node& node : host.nodes) {
    if (!is_between_hosts(node)) continue;
    node.host = 0;
    node.most_hosts = 0;
    found = true;
  }
  return found;
}

Graph with_network(Graph host, const std::optional<NetworkRequest>& request) {
  const bool several =
      std::ranges::any_of(host.nodes, [](const Node& node) { return node.host > 0; });
  if (several) {
    throw usage_error("'{}' has several hosts already; give one host", host.name);
  }
  const std::vector<int> networks = nodes_of_kind(host, NodeKind::Network);
  if ((!networks.empty() || has_nvlink_domain(host)) && !request) return host;
  if (!request) {
    throw usage_error(
        "'{}' has no network that joins hosts; give the adapters of each host and their GB/s, such "
        "as --nic 8x50",
        host.name);
  }
  static_cast<void>(leave_domain(host));
  remove_nodes(host, {networks.begin(), networks.end()});
  const std::vector<int> adapters = chosen_adapters(host, to_size(request->adapters));
  const int network = add_node(host, {.kind = NodeKind::Network, .name = "network", .host = -1});
  const int medium =
      add_medium(host, {.name = fmt::format("network {:g} GB/s", request->adapter_GBps),
                        .kind = LinkKind::Network,
                        .nominal_GBps = request->adapter_GBps,
                        .source = "--nic"});
  for (const int adapter : adapters) add_cable(host, adapter, network, medium);
  return host;
}

}  // namespace busbar::topo
