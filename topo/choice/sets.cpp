// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include <cmath>
#include <numeric>

#include "topo/bounds/packing.hpp"

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

bool same_score(double one, double other) {
  if (one == other) return true;  // also two infinities
  return std::abs(one - other) < kSameScore * std::max(std::abs(one), std::abs(other));
}

/// Replaces each score by the greatest of its class.
void join_classes(std::span<Scores> scores) {
  std::map<double, double, std::greater<>> heads;  // of the chain of near values that each is in
  for (const Scores& one : scores) {
    heads[one.ring_GBps] = one.ring_GBps;
    heads[one.bound_GBps] = one.bound_GBps;
  }
  double last = heads.empty() ? 0 : heads.begin()->first;
  double head = last;
  for (auto& [value, own_head] : heads) {
    if (!same_score(value, last)) head = value;
    own_head = head;
    last = value;
  }
  for (Scores& one : scores) {
    one = {.ring_GBps = heads.at(one.ring_GBps), .bound_GBps = heads.at(one.bound_GBps)};
  }
}

/// The whole problem: of equal lists the rates are equal.
std::vector<double> list_of(const RingProblem& problem) {
  std::vector<double> list = problem.capacity;
  for (const Hop& hop : problem.hops) {
    list.push_back(hop ? static_cast<double>(hop->size()) : -1);
    if (!hop) continue;
    for (const Use& use : *hop) {
      list.push_back(use.resource);
      list.push_back(use.times);
    }
  }
  return list;
}

}  // namespace

std::uint64_t count_sets(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  std::uint64_t count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    // count * (n - k + i) / i is whole; dividing first keeps it within 64 bits for longest.
    const std::uint64_t common = std::gcd(count, std::uint64_t{i});
    const std::uint64_t factor = (n - k + i) / (i / common);
    if (count / common > kManySets / factor) return kManySets;
    count = count / common * factor;
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

TieBreaker::TieBreaker(const Graph& graph) {
  const std::vector<int> steps = steps_to_nics(graph);
  for (const int number : graph.devices) {
    numa_.emplace_back(node_of(graph, number).host, node_of(graph, number).numa);
    nic_steps_.push_back(steps.at(to_size(number)));
  }
  off_ = square_matrix(graph.p2p.size(), [&](std::size_t i, std::size_t j) {
    return i != j && graph.p2p[i].at(j) == P2p::Off &&
           gpu_links(graph, graph.devices[i], graph.devices[j]) <= 0;
  });
}

Tie TieBreaker::of(std::span<const int> devices) const {
  Tie tie;
  std::set<std::pair<int, int>> nodes;
  for (const int device : devices) {
    nodes.insert(numa_.at(to_size(device)));
    tie.nic_steps += nic_steps_.at(to_size(device));
    const bool off = !off_.empty() && std::ranges::any_of(devices, [&](int other) {
      return off_[to_size(device)][to_size(other)];
    });
    if (off) tie.off_pairs = 1;
  }
  tie.numa_nodes = static_cast<int>(nodes.size());
  return tie;
}

Rater::Rater(const Graph& graph, const BoundOptions& options) {
  const std::vector<int> all = first_numbers(device_count(graph));
  const auto domain = all.size() < 2 ? std::nullopt : switched_domain(graph, all, options);
  if (domain && domain->narrowest.size() == domain->links.size()) equal_ = domain->port_GBps;
  if (equal_) return;
  levels_.emplace_back(graph, all, first_level(graph), options);
  if (first_level(graph) != Level::All) levels_.emplace_back(graph, all, Level::All, options);
}

Scores Rater::scores_of(const DeviceSet& set, std::size_t most_solved) {
  Scores scores;
  if (set.size() < 2) return scores;
  if (equal_) return {.ring_GBps = *equal_, .bound_GBps = *equal_};
  for (const PathTable& level : levels_) {
    const RingProblem problem = problem_of(level, set).rings;
    if (set.size() > most_solved) {
      scores.bound_GBps = quick_upper(problem);
    } else {
      const auto [known, is_new] = known_.try_emplace(list_of(problem));
      if (is_new) known->second = pack_rings(problem).upper;
      scores.bound_GBps = known->second;
    }
    if (&level == &levels_.front()) scores.ring_GBps = scores.bound_GBps;
    if (scores.bound_GBps > 0) break;
  }
  return scores;
}

std::vector<Scores> Rater::rate(std::span<const DeviceSet> sets, std::size_t most_solved) {
  auto scores = mapped(sets, [&](const DeviceSet& set) { return scores_of(set, most_solved); });
  join_classes(scores);
  return scores;
}

}  // namespace busbar::topo
