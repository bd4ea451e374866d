// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/switch_ports.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <initializer_list>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "topo/bounds/bound.hpp"

namespace busbar::topo {
namespace {

/// The bound of a switched set of any size, one device included; nothing for other sets.
std::optional<double> port_of(const Graph& graph, std::initializer_list<int> devices,
                              const BoundOptions& options) {
  const auto domain = switched_domain(graph, std::vector<int>(devices), options);
  return domain ? std::optional(domain->port_GBps) : std::nullopt;
}

/// Whether in order of their width each device has at least the next one's port at every switch:
/// then the narrowest of any set is narrowest at every switch.
bool nested(const Graph& graph, std::span<const int> pool, std::span<const double> ports,
            const BoundOptions& options) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return ports[one] > ports[other]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (!port_of(graph, {pool[order[i - 1]], pool[order[i]]}, options)) return false;
  }
  return true;
}

/// A set, or part of one; `cost` adds up over NUMA nodes: one node is dearer than all NIC steps.
struct Part {
  std::int64_t cost = 0;
  std::vector<bool> has{};  ///< by position in the pool
};

/// Of two sets of one size the lower list is the one with the lowest position not in both; that
/// stays so when both gain the same others, which the dynamic program needs.
void keep_better(std::optional<Part>& known, Part part) {
  if (!known || part.cost < known->cost || (part.cost == known->cost && part.has > known->has)) {
    known = std::move(part);
  }
}

/// A device of a NUMA node.
struct Member {
  std::int64_t cost = 0;
  std::size_t position = 0;
  bool narrow = false;

  friend auto operator<=>(const Member&, const Member&) = default;
};

constexpr std::int64_t kNodeCost = std::int64_t{1} << 32U;

/// Best sets by size, without and with a narrow port that is known of.
using Table = std::vector<std::array<std::optional<Part>, 2>>;

/// Puts these devices of one node beside every set so far that leaves room for them.
void add_members(const Table& table, std::span<const Member> members, std::int64_t node_cost,
                 Table& next) {
  const bool narrow = std::any_of(members.begin(), members.end(),
                                  [](const Member& member) { return member.narrow; });
  for (std::size_t size = 0; size + members.size() < table.size(); ++size) {
    for (const std::size_t had : {0U, 1U}) {
      if (!table[size][had]) continue;
      Part part = *table[size][had];
      part.cost += node_cost;
      for (const Member& member : members) {
        part.cost += member.cost;
        part.has[member.position] = true;
      }
      keep_better(next[size + members.size()][narrow ? 1 : had], std::move(part));
    }
  }
}

/// Adds a node whose devices are sorted, the most wanted first: some of the first, or its first
/// narrow one and some of the first.
Table add_node(const Table& table, std::vector<Member> members, std::int64_t node_cost) {
  Table next = table;
  const auto add_firsts = [&] {
    for (std::size_t count = 1; count <= members.size() && count < table.size(); ++count) {
      add_members(table, std::span(members).first(count), node_cost, next);
    }
  };
  add_firsts();
  const auto narrow = std::find_if(members.begin(), members.end(),
                                   [](const Member& member) { return member.narrow; });
  if (narrow == members.end()) return next;
  std::rotate(members.begin(), narrow, narrow + 1);
  add_firsts();
  return next;
}

}  // namespace

std::optional<std::vector<double>> switch_ports(const Graph& graph, std::span<const int> pool,
                                                const BoundOptions& options) {
  const auto all = switched_domain(graph, pool, options);
  if (!all) return {};
  if (all->narrowest.size() == all->links.size()) {
    return std::vector<double>(pool.size(), all->port_GBps);
  }
  std::vector<double> ports;
  for (const int device : pool) {
    const auto port = port_of(graph, {device}, options);
    if (!port) return {};
    ports.push_back(*port);
  }
  if (!nested(graph, pool, ports, options)) return {};
  return ports;
}

std::vector<PortClass> port_classes(std::span<const double> ports, std::size_t k) {
  std::map<double, std::size_t, std::greater<>> by_width;
  for (const double port : ports) ++by_width[port];
  std::vector<PortClass> classes;
  std::size_t wider = 0;
  for (const auto& [width, narrow] : by_width) {
    PortClass one{.port_GBps = width};
    for (std::size_t of_these = 1; of_these <= std::min(narrow, k); ++of_these) {
      one.count = add_counts(one.count, multiply_counts(count_sets(narrow, of_these),
                                                        count_sets(wider, k - of_these)));
      one.about += about_sets(narrow, of_these) * about_sets(wider, k - of_these);
    }
    if (one.count > 0) classes.push_back(one);
    wider += narrow;
  }
  return classes;
}

DeviceSet pick_by_ports(std::span<const int> pool, std::span<const double> ports,
                        const TieBreaker& ties, const PortRequest& request) {
  if (pool.size() > kMostSwitchPorts) {
    throw usage_error("--devices: a switched domain of more than 1024 devices; give a list");
  }
  const std::int64_t sign = request.spread ? -1 : 1;
  std::map<int, std::vector<Member>> nodes;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (ports[i] < request.level_GBps) continue;
    nodes[ties.numa(pool[i])].push_back({.cost = sign * ties.nic_steps(pool[i]),
                                         .position = i,
                                         .narrow = ports[i] == request.level_GBps});
  }
  Table table(request.k + 1);
  table.front().front() = Part{.has = std::vector<bool>(pool.size(), false)};
  for (auto& [node, members] : nodes) {
    std::sort(members.begin(), members.end());
    table = add_node(table, std::move(members), sign * kNodeCost);
  }
  const std::optional<Part>& best = table.back().back();
  if (!best) throw runtime_failure("no set of a switched domain has the port asked for");
  DeviceSet set;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (best->has[i]) set.push_back(pool[i]);
  }
  return set;
}

}  // namespace busbar::topo
