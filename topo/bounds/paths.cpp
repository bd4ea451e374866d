// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/paths.hpp"

#include <cmath>

namespace busbar::topo {
namespace {

/// Which links a route may take, and what may forward it. Never a GPU.
enum class RoutePolicy {
  GpuLink,  ///< NVLink or xGMI, through NVSwitches
  Smp,      ///< GpuLink to a package and on between packages: no PCIe
  Bus,      ///< PCIe, memory, and between packages: peer to peer
  Host,     ///< Bus, and GpuLink to a package: to memory or a network card
  Network   ///< between hosts
};

bool admits(RoutePolicy policy, LinkKind kind) {
  switch (policy) {
    case RoutePolicy::GpuLink: return is_gpu_link(kind);
    case RoutePolicy::Smp:
      return is_gpu_link(kind) || kind == LinkKind::Memory || kind == LinkKind::Smp;
    case RoutePolicy::Bus:
      return kind == LinkKind::Pcie || kind == LinkKind::Memory || kind == LinkKind::Smp;
    case RoutePolicy::Host: return kind != LinkKind::Network;
    case RoutePolicy::Network: return kind == LinkKind::Network;
  }
  return false;
}

bool forwards(RoutePolicy policy, NodeKind kind) {
  switch (kind) {
    case NodeKind::Gpu:
    case NodeKind::Nic: return false;
    case NodeKind::NvSwitch: return policy == RoutePolicy::GpuLink;
    case NodeKind::Network: return policy == RoutePolicy::Network;
    case NodeKind::PcieSwitch:
    case NodeKind::HostBridge: return policy == RoutePolicy::Bus || policy == RoutePolicy::Host;
    case NodeKind::Processor:
    case NodeKind::Numa:
    case NodeKind::Package: return policy != RoutePolicy::GpuLink && policy != RoutePolicy::Network;
  }
  return false;
}

/// Routes with the fewest links, and of those the widest, from one node to every other.
struct RouteTree {
  std::vector<int> length{};   ///< number of links; -1 where there is no route
  std::vector<int> arrival{};  ///< the link that reaches a node; -1 where the routes begin
};

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

/// Links in order, and the capacity of the narrowest.
struct WideRoute {
  std::vector<int> links{};
  double width = 0;
};

/// What routes side by side take of one path, each as much as it is wide; equal parts where nothing
/// limits them.
std::vector<Use> share(const std::vector<WideRoute>& routes) {
  double sum = 0;
  for (const WideRoute& route : routes) sum += route.width;
  std::vector<Use> uses;
  for (const auto& [links, width] : routes) {
    const double part = std::isfinite(sum) ? width / sum : 1 / static_cast<double>(routes.size());
    for (const int link : links) uses.push_back({.resource = link, .times = part});
  }
  return uses;
}

/// Finds the best path of a pair; keeps the routes that it searched for the next pairs.
class PathFinder {
 public:
  /// Both must outlive it.
  PathFinder(const Graph& graph, const std::vector<double>& capacity, ConstantSet constants)
      : graph_(graph), capacity_(capacity), constants_(constants), out_(graph.nodes.size()) {
    if (gpu_link_kind(graph) == LinkKind::Xgmi) over_gpu_links_ = PathKind::Xgmi;
    for (int link = 0; to_size(link) < graph.links.size(); ++link) {
      out_.at(to_size(graph.links[to_size(link)].from)).push_back(link);
    }
  }

  /// `from` and `to` are devices (indices of Graph::devices), and different.
  [[nodiscard]] std::optional<Path> find(int from, int to, Level level) {
    if (std::optional<Path> path =
            over_gpu_links(graph_.devices[to_size(from)], graph_.devices[to_size(to)])) {
      return path;
    }
    if (device(graph_, from).host != device(graph_, to).host) return between_hosts(from, to);
    return level == Level::All ? bus(from, to) : std::nullopt;
  }

  /// Links of the path from a device to the networks beside its gate, and back.
  [[nodiscard]] std::vector<int> to_network(int device) {
    const Links& own = gates(device);
    if (own.empty()) return {};
    const int node = graph_.devices[to_size(device)];
    const int gate = own.front();
    Links links = route(node, gate, RoutePolicy::Host);
    const Links back = route(gate, node, RoutePolicy::Host);
    links.insert(links.end(), back.begin(), back.end());
    for (int number = 0; to_size(number) < graph_.links.size(); ++number) {
      const bool beside = link(number).from == gate || link(number).to == gate;
      if (beside && kind(number) == LinkKind::Network) links.push_back(number);
    }
    return links;
  }

 private:
  using Links = std::vector<int>;

  [[nodiscard]] const Link& link(int number) const { return graph_.links[to_size(number)]; }
  [[nodiscard]] LinkKind kind(int number) const { return link_kind(graph_, link(number)); }
  [[nodiscard]] NodeKind node_kind(int node) const { return node_of(graph_, node).kind; }
  [[nodiscard]] double width(int number) const { return capacity_[to_size(number)]; }

  /// Whether a route from `start` that comes to the link may go on by it.
  [[nodiscard]] bool may_take(int number, int start, RoutePolicy policy) const {
    const int node = link(number).from;
    return (node == start || forwards(policy, node_kind(node))) && admits(policy, kind(number));
  }
  [[nodiscard]] const RouteTree& tree(int node, RoutePolicy policy) {
    const auto [there, is_new] = trees_.try_emplace({node, policy});
    if (is_new) there->second = search(node, policy);
    return there->second;
  }
  [[nodiscard]] int length(int from, int to, RoutePolicy policy) {
    return tree(from, policy).length[to_size(to)];
  }

  // Shorter routes first: a node's width is final before anything leaves it.
  [[nodiscard]] RouteTree search(int from, RoutePolicy policy) const {
    const std::size_t nodes = graph_.nodes.size();
    RouteTree tree{.length = Links(nodes, -1), .arrival = Links(nodes, -1)};
    std::vector<double> widths(nodes, 0);
    tree.length[to_size(from)] = 0;
    widths[to_size(from)] = kInfinity;
    Links reached{from};
    for (std::size_t k = 0; k < reached.size(); ++k) {
      const std::size_t node = to_size(reached[k]);
      const int length = tree.length[node] + 1;
      for (const int number : out_[node]) {
        if (!may_take(number, from, policy)) continue;
        const std::size_t to = to_size(link(number).to);
        const double wide = std::min(widths[node], width(number));
        const bool is_new = tree.length[to] < 0;
        if (!is_new && (tree.length[to] != length || wide <= widths[to])) continue;
        if (is_new) reached.push_back(link(number).to);
        tree.length[to] = length;
        tree.arrival[to] = number;
        widths[to] = wide;
      }
    }
    return tree;
  }

  /// Links in order; empty where there is no route.
  [[nodiscard]] Links route(int from, int to, RoutePolicy policy) {
    const RouteTree& routes = tree(from, policy);
    Links links;
    for (int node = to; routes.arrival[to_size(node)] >= 0; node = link(links.back()).from) {
      links.push_back(routes.arrival[to_size(node)]);
    }
    std::ranges::reverse(links);
    return links;
  }

  /// Several links between two nodes, or several switches between two GPUs.
  [[nodiscard]] std::vector<WideRoute> parallel(int from, int to, bool through_switch) const {
    std::vector<WideRoute> routes;
    for (const int up : out_[to_size(from)]) {
      const int middle = link(up).to;
      if (!is_gpu_link(kind(up))) continue;
      if (!through_switch && middle == to) routes.push_back({{up}, width(up)});
      if (!through_switch || node_kind(middle) != NodeKind::NvSwitch) continue;
      for (const int down : out_[to_size(middle)]) {
        const bool fits = is_gpu_link(kind(down)) && link(down).to == to;
        if (fits) routes.push_back({{up, down}, std::min(width(up), width(down))});
      }
    }
    return routes;
  }

  [[nodiscard]] std::optional<Path> over_gpu_links(int start, int end) {
    if (const int direct = length(start, end, RoutePolicy::GpuLink); direct > 0) {
      Path path{.kinds = {direct > 1 ? PathKind::NvSwitch : over_gpu_links_}};
      if (direct <= 2) {
        path.uses = share(parallel(start, end, direct == 2));
      } else {
        append(path, route(start, end, RoutePolicy::GpuLink));
      }
      return path;
    }
    const Links links = route(start, end, RoutePolicy::Smp);
    if (links.empty() || !is_gpu_link(kind(links.front())) || !is_gpu_link(kind(links.back()))) {
      return std::nullopt;
    }
    Path path{.kinds = {over_gpu_links_, PathKind::Smp}};
    append(path, links);
    return path;
  }

  [[nodiscard]] bool peers_work(int from, int to) const {
    if (!graph_.p2p.empty()) {
      const P2p known = graph_.p2p.at(to_size(from)).at(to_size(to));
      if (known != P2p::Unknown) return known == P2p::Works;
    }
    return !is_geforce(device(graph_, from).model) && !is_geforce(device(graph_, to).model);
  }

  /// The nearest memory of a node: a NUMA node or package, else a host bridge; -1 where none is
  /// known.
  [[nodiscard]] int home(int node) {
    const RouteTree& routes = tree(node, RoutePolicy::Host);
    std::pair best{2, 0};  // a bridge or not, and how far
    int found = -1;
    for (int k = 0; to_size(k) < graph_.nodes.size(); ++k) {
      const NodeKind kind = node_kind(k);
      const bool bridge = kind == NodeKind::HostBridge;
      const bool fits = bridge || kind == NodeKind::Numa || kind == NodeKind::Package;
      const std::pair rank{bridge ? 1 : 0, routes.length[to_size(k)]};
      if (!fits || rank.second < 0 || rank >= best) continue;
      best = rank;
      found = k;
    }
    return found;
  }

  [[nodiscard]] bool is_by_intel(int node) const {
    const int host = node_of(graph_, node).host;
    return std::ranges::any_of(graph_.nodes, [&](const Node& one) {
      return one.kind == NodeKind::Package && one.vendor == "intel" && one.host == host;
    });
  }

  [[nodiscard]] std::optional<Path> bus(int from, int to) {
    const int start = graph_.devices[to_size(from)];
    const int end = graph_.devices[to_size(to)];
    const bool gpus = node_kind(start) == NodeKind::Gpu && node_kind(end) == NodeKind::Gpu;
    const int memory = gpus && !peers_work(from, to) ? home(start) : -1;
    if (memory >= 0 && length(memory, end, RoutePolicy::Host) > 0) {
      Path staged{.kinds = {PathKind::SharedMemory}};
      append(staged, route(start, memory, RoutePolicy::Host));
      append(staged, route(memory, end, RoutePolicy::Host));
      return staged;
    }
    const Links links = route(start, end, RoutePolicy::Bus);
    if (links.empty()) return std::nullopt;
    Path path{.kinds = {gpus ? PathKind::Pcie : PathKind::SharedMemory}};
    append(path, links);
    const bool by_root = std::ranges::any_of(links, [&](int number) {
      const NodeKind kind = node_kind(link(number).to);
      return kind == NodeKind::Package || kind == NodeKind::HostBridge || kind == NodeKind::Numa;
    });
    if (gpus && by_root && constants_ == ConstantSet::Nccl && is_by_intel(start)) {
      for (Use& use : path.uses) {
        if (kind(use.resource) == LinkKind::Pcie) use.times = kIntelOverhead;
      }
    }
    return path;
  }

  /// Where a device leaves its host, nearest first: nodes with a link to a network.
  [[nodiscard]] Links gates_by_distance(int device) {
    const int start = graph_.devices[to_size(device)];
    const std::vector<int>& lengths = tree(start, RoutePolicy::Host).length;
    Links found;
    for (int k = 0; to_size(k) < graph_.nodes.size(); ++k) {
      const Links& links = out_[to_size(k)];
      if (lengths[to_size(k)] < 0 || node_of(graph_, k).host != node_of(graph_, start).host) {
        continue;
      }
      const bool gate =
          std::ranges::any_of(links, [&](int number) { return kind(number) == LinkKind::Network; });
      if (gate) found.push_back(k);
    }
    std::ranges::stable_sort(
        found, [&](int a, int b) { return lengths[to_size(a)] < lengths[to_size(b)]; });
    return found;
  }

  /// Devices that are equally near to several gates take them in turn.
  [[nodiscard]] const Links& gates(int device) {
    if (const auto known = gates_.find(device); known != gates_.end()) return known->second;
    const auto nearest_of = [&](const Links& all, int who) {
      const auto& lengths = tree(graph_.devices[to_size(who)], RoutePolicy::Host).length;
      return filtered(
          all, [&](int gate) { return lengths[to_size(gate)] == lengths[to_size(all.front())]; });
    };
    Links own = gates_by_distance(device);
    const Links nearest = nearest_of(own, device);
    std::ptrdiff_t turn = 0;
    for (int other = 0; nearest.size() > 1 && other < device; ++other) {
      if (topo::device(graph_, other).host != topo::device(graph_, device).host) continue;
      if (nearest_of(gates_by_distance(other), other) == nearest) ++turn;
    }
    const auto equal = static_cast<std::ptrdiff_t>(nearest.size());
    if (equal > 1) std::rotate(own.begin(), own.begin() + turn % equal, own.begin() + equal);
    return gates_.emplace(device, std::move(own)).first->second;
  }

  [[nodiscard]] std::optional<Path> between_hosts(int from, int to) {
    for (const int out : gates(from)) {
      for (const int in : gates(to)) {
        if (length(out, in, RoutePolicy::Network) <= 0) continue;
        Path path{.kinds = {PathKind::Network}};
        append(path, route(graph_.devices[to_size(from)], out, RoutePolicy::Host));
        append(path, route(out, in, RoutePolicy::Network));
        append(path, route(in, graph_.devices[to_size(to)], RoutePolicy::Host));
        return path;
      }
    }
    return std::nullopt;
  }

  const Graph& graph_;
  PathKind over_gpu_links_ = PathKind::NvLink;
  const std::vector<double>& capacity_;
  ConstantSet constants_;
  std::vector<Links> out_;  ///< links that leave each node
  std::map<std::pair<int, RoutePolicy>, RouteTree> trees_{};
  std::map<int, Links> gates_{};
};

std::vector<double> capacities(const Graph& graph, const BoundOptions& options) {
  return mapped(graph.links, [&](const Link& link) {
    return capacity_GBps(graph, link, options.constants, options.flows);
  });
}

}  // namespace

std::string describe(const PathKinds& kinds) {
  return kinds.empty() ? "none" : join_each(kinds, "+", name<PathKind>);
}

PathTable::PathTable(const Graph& graph, std::span<const int> devices, Level level,
                     const BoundOptions& options)
    : devices_(devices.begin(), devices.end()),
      capacity_(capacities(graph, options)),
      paths_(devices.size() * devices.size()) {
  PathFinder finder(graph, capacity_, options.constants);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (i != j) paths_[i * devices_.size() + j] = finder.find(devices_[i], devices_[j], level);
    }
  }
}

std::vector<int> network_links(const Graph& graph, std::span<const int> devices,
                               const BoundOptions& options) {
  const std::vector<double> capacity = capacities(graph, options);
  PathFinder finder(graph, capacity, options.constants);
  std::set<int> links;
  for (const int device : devices) {
    const std::vector<int> own = finder.to_network(device);
    links.insert(own.begin(), own.end());
  }
  return {links.begin(), links.end()};
}

Level first_level(const Graph& graph) {
  const bool any = std::ranges::any_of(
      graph.links, [&](const Link& link) { return is_gpu_link(link_kind(graph, link)); });
  return any ? Level::GpuLink : Level::All;
}

LinkProblem problem_of(const PathTable& table, std::span<const int> places) {
  LinkProblem problem;
  problem.rings.n = static_cast<int>(places.size());
  problem.rings.hops.resize(places.size() * places.size());
  std::map<int, int> numbers;  // of links as resources
  for (std::size_t k = 0; k < problem.rings.hops.size(); ++k) {
    const int from = places[k / places.size()];
    const int to = places[k % places.size()];
    if (from == to || !table.between(from, to)) continue;
    std::vector<Use>& uses = problem.rings.hops[k].emplace();
    for (const Use& use : table.between(from, to)->uses) {
      const double capacity = table.capacity_GBps(use.resource);
      if (!std::isfinite(capacity)) continue;
      const auto next = static_cast<int>(problem.links.size());
      const auto [number, is_new] = numbers.try_emplace(use.resource, next);
      if (is_new) {
        problem.links.push_back(use.resource);
        problem.rings.capacity.push_back(capacity);
      }
      uses.push_back({.resource = number->second, .times = use.times});
    }
  }
  return problem;
}

}  // namespace busbar::topo
