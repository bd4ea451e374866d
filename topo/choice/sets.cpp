// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include <numeric>

#include <fmt/ranges.h>

namespace busbar::topo {
namespace {

int steps_over(const Graph& graph, const Link& link) {
  constexpr int kProcessorStep = 10;
  constexpr int kSmpStep = 100;
  const int steps = link_kind(graph, link) == LinkKind::Smp ? 1 + kSmpStep : 1;
  switch (node_of(graph, link.to).kind) {
    case NodeKind::Processor:
    case NodeKind::HostBridge:
    case NodeKind::Numa:
    case NodeKind::Package: return steps + kProcessorStep;
    default: return steps;
  }
}

/// From every node to its nearest NIC. No way leads through a device or an NVSwitch.
std::vector<int> steps_to_nics(const Graph& graph) {
  std::vector<int> steps;
  for (const Node& node : graph.nodes) {
    steps.push_back(node.kind == NodeKind::Nic ? 0 : TieBreaker::kNoNic);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Link& link : graph.links) {
      const NodeKind end = node_of(graph, link.to).kind;
      if (end == NodeKind::Gpu || end == NodeKind::NvSwitch || end == NodeKind::Network) continue;
      const int there = steps.at(to_size(link.to)) + steps_over(graph, link);
      if (there >= steps.at(to_size(link.from))) continue;
      steps[to_size(link.from)] = there;
      changed = true;
    }
  }
  return steps;
}

/// Adds all sets that continue `set` with some of `rest`.
void extend(std::span<const int> rest, std::size_t k, DeviceSet& set,
            std::vector<DeviceSet>& sets) {
  if (set.size() == k) sets.push_back(set);
  for (; set.size() < k && set.size() + rest.size() >= k; rest = rest.subspan(1)) {
    set.push_back(rest.front());
    extend(rest.subspan(1), k, set, sets);
    set.pop_back();
  }
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

std::vector<DeviceSet> all_sets(std::size_t n, std::size_t k) {
  DeviceSet set;
  std::vector<DeviceSet> sets;
  extend(first_numbers(n), k, set, sets);
  return sets;
}

std::string describe_set(std::span<const int> set) {
  return fmt::format("{{{}}}", fmt::join(set, ","));
}

TieBreaker::TieBreaker(const Graph& graph) {
  const std::vector<int> steps = steps_to_nics(graph);
  std::map<std::pair<int, int>, int> numbers;
  for (const int number : graph.devices) {
    const Node& device = node_of(graph, number);
    const auto next = static_cast<int>(numbers.size());
    numa_.push_back(numbers.try_emplace({device.host, device.numa}, next).first->second);
    nic_steps_.push_back(steps.at(to_size(number)));
  }
  off_ = square_matrix(graph.p2p.size(), [&](std::size_t i, std::size_t j) {
    return i != j && graph.p2p[i].at(j) == P2p::Off &&
           gpu_links(graph, graph.devices[i], graph.devices[j]) <= 0;
  });
}

Tie TieBreaker::of(std::span<const int> devices) const {
  Tie tie;
  std::set<int> nodes;
  for (const int device : devices) {
    nodes.insert(numa(device));
    tie.nic_steps += nic_steps(device);
    const bool off = !off_.empty() && std::ranges::any_of(devices, [&](int other) {
      return off_[to_size(device)][to_size(other)];
    });
    if (off) tie.off_pairs = 1;
  }
  tie.numa_nodes = static_cast<int>(nodes.size());
  return tie;
}

}  // namespace busbar::topo
