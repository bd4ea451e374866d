// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/choice/blocks.hpp"
#include "topo/choice/choose.hpp"
#include "topo/choice/lazy_figures.hpp"
#include "topo/choice/rater.hpp"
#include "topo/choice/star.hpp"

namespace busbar::topo {
namespace {

using Partition = std::vector<DeviceSet>;

/// Equal ports side by side: no other partition has a greater sum of narrowest ports, and the
/// narrowest of all is the same in each.
Partition of_star(std::span<const int> pool, std::span<const double> ports, std::size_t k,
                  const TieBreaker& ties) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return std::tuple(-ports[one], ties.numa(pool[one])) <
           std::tuple(-ports[other], ties.numa(pool[other]));
  });
  Partition blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % k == 0) blocks.emplace_back();
    blocks.back().push_back(pool[order[i]]);
  }
  for (DeviceSet& block : blocks) std::sort(block.begin(), block.end());
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

DeviceSet named(const DeviceSet& places, std::span<const int> pool) {
  DeviceSet devices;
  for (const int place : places) devices.push_back(pool[static_cast<std::size_t>(place)]);
  return devices;
}

/// Begins with quick upper bounds and solves only what the best partition so far is made of: once
/// all of that is exact, no other partition can be better.
Partition search(const Graph& graph, std::span<const int> pool, std::size_t k,
                 const BoundOptions& options) {
  const TieBreaker ties(graph);
  const Rater rater(graph, pool, options);
  std::vector<int> places(pool.size());
  std::iota(places.begin(), places.end(), 0);
  const std::vector<DeviceSet> inner = all_sets(places, k);
  LazyFigures figures(rater, all_sets(pool, k));
  Blocks blocks(pool.size(), k);
  std::vector<Tie> tie;
  for (const DeviceSet& set : figures.sets()) tie.push_back(ties.of(set));
  for (;;) {
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const Figures now = figures.now(i);
      blocks.set_worth(inner[i], worth_of(now.ring_GBps, now.bound_GBps, tie[i]));
    }
    Partition found = blocks.best_partition();
    bool news = false;
    for (DeviceSet& block : found) {
      const auto place = std::lower_bound(inner.begin(), inner.end(), block) - inner.begin();
      news = figures.solve(static_cast<std::size_t>(place)) || news;
      block = named(block, pool);
    }
    if (!news) return found;
  }
}

std::optional<Partition> partition_pool(const Graph& graph, const std::vector<int>& pool,
                                        std::size_t k, const BoundOptions& options) {
  if (k >= 2) {
    if (const auto ports = star_ports(graph, pool, options)) {
      return of_star(pool, *ports, k, TieBreaker(graph));
    }
  }
  if (k == 1 || k == pool.size() || pool.size() > kMostBlockDevices) {
    if (k != 1 && k != pool.size()) return {};
    return of_star(pool, std::vector<double>(pool.size(), 0), k, TieBreaker(graph));
  }
  return search(graph, pool, k, options);
}

/// Each host by itself, where its devices are whole blocks.
std::optional<Partition> by_hosts(const Graph& graph, std::size_t k, const BoundOptions& options) {
  std::map<int, std::vector<int>> hosts;
  for (int i = 0; static_cast<std::size_t>(i) < device_count(graph); ++i) {
    hosts[device(graph, i).host].push_back(i);
  }
  Partition partition;
  for (const auto& [host, pool] : hosts) {
    if (pool.size() % k != 0) return {};
    const auto blocks = partition_pool(graph, pool, k, options);
    if (!blocks) return {};
    partition.insert(partition.end(), blocks->begin(), blocks->end());
  }
  return partition;
}

std::vector<Choice> choices_of(const Graph& graph, const Partition& partition, bool whole,
                               const BoundOptions& options) {
  std::vector<Choice> choices;
  Figures least{};
  double sum = 0;
  for (const DeviceSet& block : partition) {
    Choice& choice = choices.emplace_back();
    choice.policy = Policy::Best;
    choice.bound = bound_of(graph, block, options);
    const Figures own{.ring_GBps = choice.bound.ring_GBps, .bound_GBps = choice.bound.bound_GBps};
    least = choices.size() == 1 ? own : std::min(least, own);
    sum += own.bound_GBps;
  }
  for (Choice& choice : choices) {
    choice.reason = fmt::format(
        "the least of {} blocks has {:.4g} GB/s, the most possible{}, and "
        "together they have {:.4g} GB/s",
        choices.size(), least.bound_GBps, whole ? "" : " within each host", sum);
  }
  return choices;
}

}  // namespace

std::vector<Choice> partition(const Graph& graph, int k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  if (k < 1 || n == 0 || n % static_cast<std::size_t>(k) != 0) {
    throw usage_error(fmt::format("--partition: blocks of {} do not divide the {} devices of '{}'",
                                  k, n, graph.name));
  }
  std::vector<int> pool(n);
  std::iota(pool.begin(), pool.end(), 0);
  const auto count = static_cast<std::size_t>(k);
  if (const auto all = partition_pool(graph, pool, count, options)) {
    return choices_of(graph, *all, true, options);
  }
  if (const auto hosts = by_hosts(graph, count, options)) {
    return choices_of(graph, *hosts, false, options);
  }
  throw usage_error(fmt::format(
      "--partition: {} devices that are not in one switched domain are too many to divide in "
      "blocks of {}; use a size that divides the devices of each host, at most {} per host",
      n, k, kMostBlockDevices));
}

}  // namespace busbar::topo
