// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/paths.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

/// Which links a route may take, and what may forward it. Never a GPU.
enum class RoutePolicy {
  NvLink,  ///< NVLink, through NVSwitches
  Smp,     ///< NVLink to a package and on between packages: no PCIe
  Bus,     ///< PCIe, memory, and between packages: peer to peer
  Host,    ///< Bus, and NVLink to a package: to memory or a network card
  Network  ///< between hosts
};

/// Routes with the fewest links, and of those the widest, from one node to every other.
class RouteTree {
 public:
  RouteTree(const Graph& graph, const std::vector<std::vector<int>>& links_out,
            const std::vector<double>& capacity, int from, RoutePolicy policy);

  /// Number of links; -1 where there is no route, 0 to where it begins.
  [[nodiscard]] int length(int to) const { return length_[static_cast<std::size_t>(to)]; }
  /// Links in order; empty where there is no route.
  [[nodiscard]] std::vector<int> links_to(int to) const;

 private:
  void spread(const Graph& graph, const std::vector<std::vector<int>>& links_out,
              const std::vector<double>& capacity, RoutePolicy policy);

  bool reach(const Link& link, int number, double capacity);

  const std::vector<Link>& links_;
  std::vector<int> length_;
  std::vector<double> width_;
  std::vector<int> arrival_;  ///< the link that reaches a node
  std::vector<int> layer_{};
};

/// Finds the best path of a pair; keeps the routes that it searched for the next pairs. The graph
/// must outlive it.
class PathFinder {
 public:
  PathFinder(const Graph& graph, const std::vector<double>& capacity, ConstantSet constants);

  /// `from` and `to` are devices (indices of Graph::devices), and different.
  [[nodiscard]] std::optional<Path> find(int from, int to, Level level);

 private:
  [[nodiscard]] const RouteTree& tree(int node, RoutePolicy policy);
  [[nodiscard]] std::optional<Path> nvlink(int from, int to);
  [[nodiscard]] std::optional<Path> between_hosts(int from, int to);
  [[nodiscard]] std::optional<Path> bus(int from, int to);
  [[nodiscard]] bool peers_work(int from, int to) const;
  [[nodiscard]] int home(int device);
  [[nodiscard]] const std::vector<int>& gates(int device);
  [[nodiscard]] std::vector<int> nearest_gates(int device);
  [[nodiscard]] std::vector<Use> parallel(int from, int to, bool through_switch) const;
  [[nodiscard]] int node_of(int device) const;
  [[nodiscard]] const Node& node(int number) const;
  [[nodiscard]] LinkKind kind(int link) const;

  const Graph& graph_;
  const std::vector<double>& capacity_;
  ConstantSet constants_;
  std::vector<std::vector<int>> out_;
  std::map<std::pair<int, RoutePolicy>, RouteTree> trees_{};
  std::map<int, std::vector<int>> gates_{};
  std::map<int, bool> intel_{};  ///< by host: whether its packages are Intel's
};

bool admits(RoutePolicy policy, LinkKind kind) {
  switch (policy) {
    case RoutePolicy::NvLink: return kind == LinkKind::NvLink;
    case RoutePolicy::Smp:
      return kind == LinkKind::NvLink || kind == LinkKind::Memory || kind == LinkKind::Smp;
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
    case NodeKind::NvSwitch: return policy == RoutePolicy::NvLink;
    case NodeKind::Network: return policy == RoutePolicy::Network;
    case NodeKind::PcieSwitch:
    case NodeKind::HostBridge: return policy == RoutePolicy::Bus || policy == RoutePolicy::Host;
    case NodeKind::Processor:
    case NodeKind::Numa:
    case NodeKind::Package: return policy != RoutePolicy::NvLink && policy != RoutePolicy::Network;
  }
  return false;
}

/// Links that leave each node.
std::vector<std::vector<int>> links_out_of(const Graph& graph) {
  std::vector<std::vector<int>> out(graph.nodes.size());
  for (std::size_t link = 0; link < graph.links.size(); ++link) {
    out.at(static_cast<std::size_t>(graph.links[link].from)).push_back(static_cast<int>(link));
  }
  return out;
}

RouteTree::RouteTree(const Graph& graph, const std::vector<std::vector<int>>& links_out,
                     const std::vector<double>& capacity, int from, RoutePolicy policy)
    : links_(graph.links),
      length_(graph.nodes.size(), -1),
      width_(graph.nodes.size(), 0),
      arrival_(graph.nodes.size(), -1) {
  length_[static_cast<std::size_t>(from)] = 0;
  width_[static_cast<std::size_t>(from)] = std::numeric_limits<double>::infinity();
  layer_ = {from};
  spread(graph, links_out, capacity, policy);
}

/// Takes a link to a node of the next layer where that is new or the link makes it wider. True
/// where it is new.
bool RouteTree::reach(const Link& link, int number, double capacity) {
  const auto from = static_cast<std::size_t>(link.from);
  const auto to = static_cast<std::size_t>(link.to);
  const double width = std::min(width_[from], capacity);
  const bool fresh = length_[to] < 0;
  const bool wider = length_[to] == length_[from] + 1 && width > width_[to];
  if (!fresh && !wider) return false;
  length_[to] = length_[from] + 1;
  width_[to] = width;
  arrival_[to] = number;
  return fresh;
}

// Layer by layer: a node's width is final when its layer is complete, before anything leaves it.
void RouteTree::spread(const Graph& graph, const std::vector<std::vector<int>>& links_out,
                       const std::vector<double>& capacity, RoutePolicy policy) {
  std::vector<int> next;
  const auto leave = [&](int node) {
    for (const int number : links_out[static_cast<std::size_t>(node)]) {
      const Link& link = graph.links[static_cast<std::size_t>(number)];
      const LinkKind kind = graph.media.at(static_cast<std::size_t>(link.medium)).kind;
      const bool fresh =
          admits(policy, kind) && reach(link, number, capacity[static_cast<std::size_t>(number)]);
      if (fresh) next.push_back(link.to);
    }
  };
  leave(layer_.front());
  while (!next.empty()) {
    layer_.swap(next);
    next.clear();
    for (const int node : layer_) {
      if (forwards(policy, graph.nodes[static_cast<std::size_t>(node)].kind)) leave(node);
    }
  }
}

std::vector<int> RouteTree::links_to(int to) const {
  std::vector<int> links;
  for (int link = arrival_[static_cast<std::size_t>(to)]; link >= 0;
       link = arrival_[static_cast<std::size_t>(links_[static_cast<std::size_t>(link)].from)]) {
    links.push_back(link);
  }
  std::reverse(links.begin(), links.end());
  return links;
}

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

const RouteTree& PathFinder::tree(int node, RoutePolicy policy) {
  const auto there = trees_.find({node, policy});
  if (there != trees_.end()) return there->second;
  return trees_.emplace(std::pair{node, policy}, RouteTree(graph_, out_, capacity_, node, policy))
      .first->second;
}

std::optional<Path> PathFinder::find(int from, int to, Level level) {
  const bool one_host = node(node_of(from)).host == node(node_of(to)).host;
  if (std::optional<Path> path = nvlink(from, to)) return path;
  if (!one_host) return between_hosts(from, to);
  return level == Level::All ? bus(from, to) : std::nullopt;
}

/// Several links between two nodes, or several switches between two GPUs, share one path,
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
  const RouteTree& direct = tree(start, RoutePolicy::NvLink);
  if (const int length = direct.length(end); length > 0) {
    Path path{.kinds = length > 1 ? PathKind::NvSwitch : PathKind::NvLink};
    if (length <= 2) {
      path.uses = parallel(start, end, length == 2);
    } else {
      append(path, direct.links_to(end));
    }
    return path;
  }
  const std::vector<int> links = tree(start, RoutePolicy::Smp).links_to(end);
  if (links.empty() || kind(links.front()) != LinkKind::NvLink ||
      kind(links.back()) != LinkKind::NvLink) {
    return std::nullopt;
  }
  Path path{.kinds = PathKind::NvLink | PathKind::Smp};
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
  const RouteTree& routes = tree(node_of(device), RoutePolicy::Host);
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
  if (memory >= 0 && tree(memory, RoutePolicy::Host).length(end) > 0) {
    Path staged{.kinds = PathKind::SharedMemory};
    append(staged, tree(start, RoutePolicy::Host).links_to(memory));
    append(staged, tree(memory, RoutePolicy::Host).links_to(end));
    return staged;
  }
  const std::vector<int> links = tree(start, RoutePolicy::Bus).links_to(end);
  if (links.empty()) return std::nullopt;
  Path path{.kinds = gpus ? PathKind::Pcie : PathKind::SharedMemory};
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
  const RouteTree& routes = tree(node_of(device), RoutePolicy::Host);
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
    const RouteTree& routes = tree(node_of(who), RoutePolicy::Host);
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
      if (tree(out, RoutePolicy::Network).length(in) <= 0) continue;
      Path path{.kinds = PathKind::Network};
      append(path, tree(node_of(from), RoutePolicy::Host).links_to(out));
      append(path, tree(out, RoutePolicy::Network).links_to(in));
      append(path, tree(in, RoutePolicy::Host).links_to(node_of(to)));
      return path;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string describe(PathKind kinds) {
  constexpr std::array<std::pair<PathKind, std::string_view>, 6> kTexts{
      {{PathKind::NvLink, "nvlink"},
       {PathKind::NvSwitch, "nvswitch"},
       {PathKind::Smp, "smp"},
       {PathKind::Pcie, "pcie"},
       {PathKind::SharedMemory, "shared memory"},
       {PathKind::Network, "network"}}};
  std::vector<std::string> parts;
  for (const auto& [kind, text] : kTexts) {
    if (has(kinds, kind)) parts.emplace_back(text);
  }
  return parts.empty() ? "none" : join(parts, "+");
}

PathTable::PathTable(const Graph& graph, std::span<const int> devices, Level level,
                     const BoundOptions& options)
    : devices_(devices.begin(), devices.end()), paths_(devices.size() * devices.size()) {
  capacity_.reserve(graph.links.size());
  for (const Link& link : graph.links) {
    capacity_.push_back(topo::capacity_GBps(graph, link, options.constants, options.flows));
  }
  PathFinder finder(graph, capacity_, options.constants);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (i != j) paths_[i * devices_.size() + j] = finder.find(devices_[i], devices_[j], level);
    }
  }
}

Level first_level(const Graph& graph) {
  const bool nvlink = std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return graph.media.at(static_cast<std::size_t>(link.medium)).kind == LinkKind::NvLink;
  });
  return nvlink ? Level::NvLink : Level::All;
}

LinkProblem problem_of(const PathTable& table, std::span<const std::size_t> places) {
  LinkProblem problem;
  problem.rings.n = static_cast<int>(places.size());
  problem.rings.hops.resize(places.size() * places.size());
  std::vector<int> numbers(table.links(), -1);
  const auto resource_of = [&](int link) {
    int& number = numbers[static_cast<std::size_t>(link)];
    if (number < 0) {
      number = static_cast<int>(problem.links.size());
      problem.links.push_back(link);
      problem.rings.capacity.push_back(table.capacity_GBps(link));
    }
    return number;
  };
  for (std::size_t k = 0; k < problem.rings.hops.size(); ++k) {
    const std::size_t from = k / places.size();
    const std::size_t to = k % places.size();
    if (from == to || !table.between(places[from], places[to])) continue;
    std::vector<Use> uses;
    for (const Use& use : table.between(places[from], places[to])->uses) {
      if (!std::isfinite(table.capacity_GBps(use.resource))) continue;
      uses.push_back({.resource = resource_of(use.resource), .times = use.times});
    }
    problem.rings.hops[k] = std::move(uses);
  }
  return problem;
}

}  // namespace busbar::topo
