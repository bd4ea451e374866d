// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/star.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "topo/bounds/switched.hpp"

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

/// Positions in the pool, as bits.
class Mask {
 public:
  void add(std::size_t position) { words_[position / kBits] |= bit(position); }
  [[nodiscard]] bool has(std::size_t position) const {
    return (words_[position / kBits] & bit(position)) != 0;
  }
  [[nodiscard]] Mask with(const Mask& other) const {
    Mask sum = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) sum.words_[i] |= other.words_[i];
    return sum;
  }
  /// Of two sets of one size the lower list is the one with the lowest position not in both; that
  /// stays so when both gain the same others, which the dynamic program needs.
  [[nodiscard]] bool before(const Mask& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t differing = words_[i] ^ other.words_[i];
      if (differing != 0) return (words_[i] & (differing & (~differing + 1))) != 0;
    }
    return false;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t position) { return std::uint64_t{1} << (position % kBits); }

  std::array<std::uint64_t, kMostStarDevices / kBits> words_{};
};

/// A set, or part of one; `cost` adds up over NUMA nodes: one node is dearer than all NIC steps.
struct Part {
  std::int64_t cost = 0;
  Mask mask{};
};

using MaybePart = std::optional<Part>;

void keep_better(MaybePart& known, const Part& part) {
  if (!known || part.cost < known->cost ||
      (part.cost == known->cost && part.mask.before(known->mask))) {
    known = part;
  }
}

/// What a NUMA node gives: its devices from the most wanted on.
struct Member {
  std::int64_t cost = 0;
  std::size_t position = 0;
  bool narrow = false;
};

constexpr std::int64_t kNodeCost = std::int64_t{1} << 32U;

/// The best `count` of a node, with a narrow port among them where asked for.
MaybePart part_of(const std::vector<Member>& members, std::size_t count, bool narrow,
                  std::int64_t node_cost) {
  const auto first_narrow = std::find_if(members.begin(), members.end(),
                                         [](const Member& member) { return member.narrow; });
  if (narrow && first_narrow == members.end()) return {};
  Part part{.cost = node_cost};
  std::size_t left = count;
  const auto add = [&](const Member& member) {
    part.cost += member.cost;
    part.mask.add(member.position);
    --left;
  };
  if (narrow) add(*first_narrow);
  for (auto member = members.begin(); left > 0; ++member) {
    if (!narrow || member != first_narrow) add(*member);
  }
  return part;
}

constexpr std::size_t kWithout = 0;
constexpr std::size_t kWith = 1;

/// Best sets by size, without and with a narrow port that is known of.
using Table = std::vector<std::array<MaybePart, 2>>;

/// Puts the part beside every set so far that leaves room for it.
void add_part(const Table& table, const Part& part, std::size_t count, bool narrow, Table& next) {
  for (std::size_t size = 0; size + count < table.size(); ++size) {
    for (const std::size_t had : {kWithout, kWith}) {
      const MaybePart& before = table[size][had];
      if (!before) continue;
      keep_better(next[size + count][narrow ? kWith : had],
                  {.cost = before->cost + part.cost, .mask = before->mask.with(part.mask)});
    }
  }
}

Table add_node(const Table& table, const std::vector<Member>& members, std::int64_t node_cost) {
  Table next = table;
  for (std::size_t count = 1; count <= members.size() && count < table.size(); ++count) {
    for (const bool narrow : {false, true}) {
      const MaybePart part = part_of(members, count, narrow, node_cost);
      if (part) add_part(table, *part, count, narrow, next);
    }
  }
  return next;
}

}  // namespace

std::optional<std::vector<double>> star_ports(const Graph& graph, std::span<const int> pool,
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

std::vector<StarClass> star_classes(std::span<const double> ports, std::size_t k) {
  std::map<double, std::size_t, std::greater<>> by_width;
  for (const double port : ports) ++by_width[port];
  std::vector<StarClass> classes;
  std::size_t wider = 0;
  for (const auto& [width, narrow] : by_width) {
    StarClass one{.port_GBps = width};
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

DeviceSet pick_from_star(std::span<const int> pool, std::span<const double> ports,
                         const TieBreaker& ties, const StarWish& wish) {
  if (pool.size() > kMostStarDevices) {
    throw usage_error("--devices: a switched domain of more than 1024 devices; give a list");
  }
  const std::int64_t sign = wish.spread ? -1 : 1;
  std::map<int, std::vector<Member>> nodes;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (ports[i] < wish.level_GBps) continue;
    nodes[ties.numa(pool[i])].push_back({.cost = sign * ties.nic_steps(pool[i]),
                                         .position = i,
                                         .narrow = ports[i] == wish.level_GBps});
  }
  Table table(wish.k + 1);
  table.front().front() = Part{};
  for (auto& [node, members] : nodes) {
    std::sort(members.begin(), members.end(), [](const Member& one, const Member& other) {
      return std::pair(one.cost, one.position) < std::pair(other.cost, other.position);
    });
    table = add_node(table, members, sign * kNodeCost);
  }
  const MaybePart& best = table.back().back();
  if (!best) throw runtime_failure("no set of a switched domain has the port asked for");
  DeviceSet set;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (best->mask.has(i)) set.push_back(pool[i]);
  }
  return set;
}

}  // namespace busbar::topo
