// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/path_finder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace busbar::topo {
namespace {

/// What NCCL adds to the bytes of peers that meet at an Intel root complex: INTEL_P2P_OVERHEAD of
/// src/graph/topo.h.
constexpr double kIntelOverhead = 6.0 / 5.0;

/// GeForce boards have no peer access over PCIe: "GeForce", or RTX 2060 to RTX 5090. The
/// workstation boards RTX 4000 and 5000 have it.
bool is_geforce(std::string_view model) {
  if (model.find("GeForce") != std::string_view::npos) return true;
  constexpr std::string_view kSeries = "RTX ";
  const std::size_t place = model.find(kSeries);
  if (place == std::string_view::npos) return false;
  const std::string_view number = model.substr(place + kSeries.size());
  return number.size() >= 4 && number[0] >= '2' && number[0] <= '5' && number[1] == '0' &&
         number[2] >= '5' && number[2] <= '9' && number[3] == '0';
}

void append(Path& path, const std::vector<int>& links) {
  for (const int link : links) path.uses.push_back({.resource = link});
}

/// Each takes its part of the whole; equal parts where nothing limits them.
void share(std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) {
    weight = std::isfinite(sum) ? weight / sum : 1 / static_cast<double>(weights.size());
  }
}

}  // namespace

PathFinder::PathFinder(const Graph& graph, const std::vector<double>& capacity,
                       ConstantSet constants)
    : graph_(graph), capacity_(capacity), constants_(constants), out_(links_out_of(graph)) {
  for (const Node& one : graph.nodes) {
    if (one.kind == NodeKind::Package && one.vendor == "intel") intel_[one.host] = true;
  }
}

int PathFinder::node_of(int device) const {
  return graph_.devices.at(static_cast<std::size_t>(device));
}

const Node& PathFinder::node(int number) const {
  return graph_.nodes.at(static_cast<std::size_t>(number));
}

LinkKind PathFinder::kind(int link) const {
  const auto medium = graph_.links[static_cast<std::size_t>(link)].medium;
  return graph_.media.at(static_cast<std::size_t>(medium)).kind;
}

const RouteTree& PathFinder::tree(int node, Ways ways) {
  const auto there = trees_.find({node, ways});
  if (there != trees_.end()) return there->second;
  return trees_.emplace(std::pair{node, ways}, RouteTree(graph_, out_, capacity_, node, ways))
      .first->second;
}

std::optional<Path> PathFinder::find(int from, int to, Level level) {
  const bool one_host = node(node_of(from)).host == node(node_of(to)).host;
  if (std::optional<Path> path = nvlink(from, to)) return path;
  if (!one_host) return between_hosts(from, to);
  return level == Level::All ? bus(from, to) : std::nullopt;
}

/// Several links between two nodes, or several switches between two GPUs, carry one path together,
/// each as much as it is wide.
std::vector<Use> PathFinder::parallel(int from, int to, bool through_switch) const {
  std::vector<std::vector<int>> routes;
  std::vector<double> weights;
  const auto links_between = [&](int one, int other, auto&& use) {
    for (const int link : out_[static_cast<std::size_t>(one)]) {
      const int end = graph_.links[static_cast<std::size_t>(link)].to;
      if (kind(link) == LinkKind::NvLink && (other < 0 || end == other)) use(link, end);
    }
  };
  const auto width = [&](int link) { return capacity_[static_cast<std::size_t>(link)]; };
  if (through_switch) {
    links_between(from, -1, [&](int up, int middle) {
      if (node(middle).kind != NodeKind::NvSwitch) return;
      links_between(middle, to, [&](int down, int) {
        routes.push_back({up, down});
        weights.push_back(std::min(width(up), width(down)));
      });
    });
  } else {
    links_between(from, to, [&](int link, int) {
      routes.push_back({link});
      weights.push_back(width(link));
    });
  }
  share(weights);
  std::vector<Use> uses;
  for (std::size_t k = 0; k < routes.size(); ++k) {
    for (const int link : routes[k]) uses.push_back({.resource = link, .times = weights[k]});
  }
  return uses;
}

std::optional<Path> PathFinder::nvlink(int from, int to) {
  const int start = node_of(from);
  const int end = node_of(to);
  const RouteTree& direct = tree(start, Ways::NvLink);
  if (const int length = direct.length(end); length > 0) {
    Path path{.ways = length > 1 ? Way::NvSwitch : Way::NvLink};
    if (length <= 2) {
      path.uses = parallel(start, end, length == 2);
    } else {
      append(path, direct.links_to(end));
    }
    return path;
  }
  const std::vector<int> links = tree(start, Ways::Smp).links_to(end);
  if (links.empty() || kind(links.front()) != LinkKind::NvLink ||
      kind(links.back()) != LinkKind::NvLink) {
    return std::nullopt;
  }
  Path path{.ways = Way::NvLink | Way::Smp};
  append(path, links);
  return path;
}

bool PathFinder::peers_work(int from, int to) const {
  if (!graph_.p2p.empty()) {
    const P2p known =
        graph_.p2p.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
    if (known != P2p::Unknown) return known == P2p::Works;
  }
  return !is_geforce(device(graph_, from).model) && !is_geforce(device(graph_, to).model);
}

/// The nearest memory of a device: a NUMA node or package, else a host bridge; -1 where none is
/// known.
int PathFinder::home(int device) {
  const RouteTree& routes = tree(node_of(device), Ways::Host);
  const auto nearest = [&](auto&& fits) {
    int best = -1;
    for (int k = 0; k < static_cast<int>(graph_.nodes.size()); ++k) {
      if (!fits(node(k).kind) || routes.length(k) < 0) continue;
      if (best < 0 || routes.length(k) < routes.length(best)) best = k;
    }
    return best;
  };
  const int memory =
      nearest([](NodeKind kind) { return kind == NodeKind::Numa || kind == NodeKind::Package; });
  return memory >= 0 ? memory : nearest([](NodeKind kind) { return kind == NodeKind::HostBridge; });
}

std::optional<Path> PathFinder::bus(int from, int to) {
  const int start = node_of(from);
  const int end = node_of(to);
  const bool gpus = node(start).kind == NodeKind::Gpu && node(end).kind == NodeKind::Gpu;
  const int memory = gpus && !peers_work(from, to) ? home(from) : -1;
  if (memory >= 0 && tree(memory, Ways::Host).length(end) > 0) {
    Path staged{.ways = Way::SharedMemory};
    append(staged, tree(start, Ways::Host).links_to(memory));
    append(staged, tree(memory, Ways::Host).links_to(end));
    return staged;
  }
  const std::vector<int> links = tree(start, Ways::Bus).links_to(end);
  if (links.empty()) return std::nullopt;
  Path path{.ways = gpus ? Way::Pcie : Way::SharedMemory};
  append(path, links);
  const bool by_root = std::any_of(links.begin(), links.end(), [&](int link) {
    const NodeKind kind = node(graph_.links[static_cast<std::size_t>(link)].to).kind;
    return kind == NodeKind::Package || kind == NodeKind::HostBridge || kind == NodeKind::Numa;
  });
  if (gpus && by_root && constants_ == ConstantSet::Nccl && intel_.contains(node(start).host)) {
    for (Use& use : path.uses) {
      if (kind(use.resource) == LinkKind::Pcie) use.times = kIntelOverhead;
    }
  }
  return path;
}

/// Where a device leaves its host, nearest first: nodes with a link to a network.
std::vector<int> PathFinder::nearest_gates(int device) {
  const RouteTree& routes = tree(node_of(device), Ways::Host);
  std::vector<int> found;
  for (int k = 0; k < static_cast<int>(graph_.nodes.size()); ++k) {
    const auto& links = out_[static_cast<std::size_t>(k)];
    if (routes.length(k) < 0 || node(k).host != node(node_of(device)).host) continue;
    if (std::any_of(links.begin(), links.end(),
                    [&](int link) { return kind(link) == LinkKind::Network; })) {
      found.push_back(k);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](int a, int b) { return routes.length(a) < routes.length(b); });
  return found;
}

/// Devices that are equally near to several gates take them in turn.
const std::vector<int>& PathFinder::gates(int device) {
  if (const auto known = gates_.find(device); known != gates_.end()) return known->second;
  const auto nearest_of = [&](const std::vector<int>& all, int who) {
    const RouteTree& routes = tree(node_of(who), Ways::Host);
    const auto end = std::find_if(all.begin(), all.end(), [&](int gate) {
      return routes.length(gate) > routes.length(all.front());
    });
    return std::vector<int>(all.begin(), end);
  };
  std::vector<int> own = nearest_gates(device);
  const std::vector<int> nearest = nearest_of(own, device);
  std::ptrdiff_t turn = 0;
  for (int other = 0; nearest.size() > 1 && other < device; ++other) {
    if (node(node_of(other)).host != node(node_of(device)).host) continue;
    if (nearest_of(nearest_gates(other), other) == nearest) ++turn;
  }
  const auto equal = static_cast<std::ptrdiff_t>(nearest.size());
  if (equal > 1) std::rotate(own.begin(), own.begin() + turn % equal, own.begin() + equal);
  return gates_.emplace(device, std::move(own)).first->second;
}

std::optional<Path> PathFinder::between_hosts(int from, int to) {
  for (const int out : gates(from)) {
    for (const int in : gates(to)) {
      if (tree(out, Ways::Network).length(in) <= 0) continue;
      Path path{.ways = Way::Network};
      append(path, tree(node_of(from), Ways::Host).links_to(out));
      append(path, tree(out, Ways::Network).links_to(in));
      append(path, tree(in, Ways::Host).links_to(node_of(to)));
      return path;
    }
  }
  return std::nullopt;
}

}  // namespace busbar::topo
