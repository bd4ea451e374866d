// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace busbar::topo {
namespace {

constexpr int kProcessorStep = 10;
constexpr int kSmpStep = 100;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// No way to a NIC leads through these.
bool ends_path(NodeKind kind) {
  return kind == NodeKind::Gpu || kind == NodeKind::NvSwitch || kind == NodeKind::Network ||
         kind == NodeKind::Nic;
}

int step(const Graph& graph, const Link& link) {
  const NodeKind kind = graph.nodes.at(at(link.to)).kind;
  int steps = 1;
  if (graph.media.at(at(link.medium)).kind == LinkKind::Smp) steps += kSmpStep;
  if (kind == NodeKind::Processor || kind == NodeKind::HostBridge || kind == NodeKind::Numa ||
      kind == NodeKind::Package) {
    steps += kProcessorStep;
  }
  return steps;
}

/// The links into each node, less those of the network.
std::vector<std::vector<const Link*>> incoming_of(const Graph& graph) {
  std::vector<std::vector<const Link*>> incoming(graph.nodes.size());
  for (const Link& link : graph.links) {
    if (graph.media.at(at(link.medium)).kind != LinkKind::Network) {
      incoming.at(at(link.to)).push_back(&link);
    }
  }
  return incoming;
}

/// Steps from every node to its nearest NIC: Dijkstra's search from all NICs at once, backwards.
std::vector<int> steps_to_nics(const Graph& graph) {
  const auto incoming = incoming_of(graph);
  std::vector<int> best(graph.nodes.size(), TieBreaker::kNoNic);
  using Entry = std::pair<int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].kind != NodeKind::Nic) continue;
    best[node] = 0;
    queue.emplace(0, static_cast<int>(node));
  }
  while (!queue.empty()) {
    const auto [steps, node] = queue.top();
    queue.pop();
    if (steps > best[at(node)] || (steps > 0 && ends_path(graph.nodes[at(node)].kind))) continue;
    for (const Link* link : incoming[at(node)]) {
      const int there = steps + step(graph, *link);
      if (there >= best.at(at(link->from))) continue;
      best[at(link->from)] = there;
      queue.emplace(there, link->from);
    }
  }
  return best;
}

/// The ends of the NVLinks of a device: other devices and switches.
std::vector<std::set<int>> nvlink_ends(const Graph& graph) {
  std::vector<std::set<int>> ends(graph.nodes.size());
  for (const Link& link : graph.links) {
    if (graph.media.at(at(link.medium)).kind == LinkKind::NvLink) {
      ends.at(at(link.from)).insert(link.to);
    }
  }
  return ends;
}

bool joined(const Graph& graph, const std::vector<std::set<int>>& ends, int one, int other) {
  const auto& ours = ends[at(one)];
  if (ours.contains(other)) return true;
  return std::any_of(ours.begin(), ours.end(), [&](int end) {
    return graph.nodes[at(end)].kind == NodeKind::NvSwitch && ends[at(other)].contains(end);
  });
}

/// Moves to the next set of positions below n in lexicographic order; false after the last.
bool advance(std::vector<std::size_t>& positions, std::size_t n) {
  const std::size_t k = positions.size();
  for (std::size_t i = k; i-- > 0;) {
    if (positions[i] == n - k + i) continue;
    ++positions[i];
    for (std::size_t j = i + 1; j < k; ++j) positions[j] = positions[j - 1] + 1;
    return true;
  }
  return false;
}

}  // namespace

std::uint64_t add_counts(std::uint64_t one, std::uint64_t other) {
  return one > kManySets - other ? kManySets : one + other;
}

std::uint64_t multiply_counts(std::uint64_t one, std::uint64_t other) {
  return other != 0 && one > kManySets / other ? kManySets : one * other;
}

std::uint64_t count_sets(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  std::uint64_t count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    // count * (n - k + i) / i is whole; dividing first keeps it within 64 bits for longest.
    const std::uint64_t common = std::gcd(count, std::uint64_t{i});
    count = multiply_counts(count / common, (n - k + i) / (i / common));
    if (count == kManySets) return count;
  }
  return count;
}

double about_sets(std::size_t n, std::size_t k) {
  double count = k > n ? 0 : 1;
  for (std::size_t i = 1; i <= k && k <= n; ++i) {
    count *= static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return count;
}

std::string counted_sets(std::uint64_t count) {
  if (count == kManySets) return "more than 1.8e19 sets";
  return fmt::format("{} set{}", count, count == 1 ? "" : "s");
}

std::vector<DeviceSet> all_sets(std::span<const int> pool, std::size_t k) {
  std::vector<DeviceSet> sets;
  if (k > pool.size()) return sets;
  std::vector<std::size_t> positions(k);
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  do {
    DeviceSet set;
    set.reserve(k);
    for (const std::size_t position : positions) set.push_back(pool[position]);
    sets.push_back(std::move(set));
  } while (advance(positions, pool.size()));
  return sets;
}

std::string describe_set(std::span<const int> set) {
  return fmt::format("{{{}}}", fmt::join(set, ","));
}

TieBreaker::TieBreaker(const Graph& graph) {
  const std::vector<int> steps = steps_to_nics(graph);
  std::map<std::pair<int, int>, int> numbers;
  for (const int node : graph.devices) {
    const Node& device = graph.nodes.at(at(node));
    const auto next = static_cast<int>(numbers.size());
    numa_.push_back(numbers.try_emplace({device.host, device.numa}, next).first->second);
    nic_steps_.push_back(steps.at(at(node)));
  }
  if (graph.p2p.empty()) return;
  const auto ends = nvlink_ends(graph);
  const std::size_t n = graph.devices.size();
  off_.assign(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      off_[i][j] = graph.p2p.at(i).at(j) == P2p::Off &&
                   !joined(graph, ends, graph.devices[i], graph.devices[j]);
    }
  }
}

Tie TieBreaker::of(std::span<const int> devices) const {
  Tie tie;
  std::vector<int> nodes;
  for (const int device : devices) {
    nodes.push_back(numa(device));
    tie.nic_steps += nic_steps(device);
  }
  std::sort(nodes.begin(), nodes.end());
  tie.numa_nodes =
      static_cast<int>(std::distance(nodes.begin(), std::unique(nodes.begin(), nodes.end())));
  if (off_.empty()) return tie;
  const bool off = std::any_of(devices.begin(), devices.end(), [&](int i) {
    return std::any_of(devices.begin(), devices.end(),
                       [&](int j) { return i != j && off_[at(i)][at(j)]; });
  });
  tie.off_pairs = off ? 1 : 0;
  return tie;
}

}  // namespace busbar::topo
