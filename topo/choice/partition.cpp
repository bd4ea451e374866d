// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/partition.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/choice/switch_ports.hpp"

namespace busbar::topo {
namespace {

/// A set of devices.
using Bits = std::size_t;

Bits bits_of(const DeviceSet& block) {
  Bits set = 0;
  for (const int device : block) set |= Bits{1} << static_cast<unsigned>(device);
  return set;
}

/// What blocks are compared by when the least counts: ring, then bound.
using Least = std::pair<std::int64_t, std::int64_t>;

Least least_of(const Worth& worth) { return {worth.ring, worth.bound}; }

/// One search of best partitions of all subsets, each found once.
class Division {
 public:
  Division(std::size_t n, const std::vector<DeviceSet>& blocks, std::span<const Worth> worth)
      : worth_(worth), by_lowest_(n), least_(Bits{1} << n), sum_(Bits{1} << n) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      by_lowest_[static_cast<std::size_t>(blocks[i].front())].emplace_back(bits_of(blocks[i]), i);
    }
  }

  /// The least block of the best partition of a set.
  Least least(Bits set) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    if (set == 0) return {kMost, kMost};
    if (least_[set]) return *least_[set];
    std::optional<Least> best;
    for_blocks(set, [&](Bits block, std::size_t index) {
      const Least own = least_of(worth_[index]);
      if (best && own <= *best) return;
      const Least both = std::min(own, least(set & ~block));
      if (!best || both > *best) best = both;
    });
    least_[set] = best;
    return *best;
  }

  /// The greatest sum of a set over blocks that are worth `limit` or more, and the first of them.
  struct Sum {
    bool possible = false;
    Worth worth{};
    std::size_t first = 0;
  };
  const Sum& sum(Bits set, const Least& limit) {
    if (sum_[set]) return *sum_[set];
    Sum best{.possible = set == 0};
    for_blocks(set, [&](Bits block, std::size_t index) {
      if (least_of(worth_[index]) < limit) return;
      const Sum& rest = sum(set & ~block, limit);
      if (!rest.possible) return;
      const Worth& own = worth_[index];
      const Worth both{.ring = own.ring + rest.worth.ring,
                       .bound = own.bound + rest.worth.bound,
                       .tie = own.tie + rest.worth.tie};
      if (!best.possible || both > best.worth) {
        best = {.possible = true, .worth = both, .first = index};
      }
    });
    return sum_[set].emplace(best);
  }

 private:
  /// Blocks within the set that have its lowest device: the first block of its partition.
  template <class Call>
  void for_blocks(Bits set, const Call& call) {
    if (set == 0) return;
    for (const auto& [block, index] : by_lowest_[static_cast<std::size_t>(std::countr_zero(set))]) {
      if ((block & ~set) == 0) call(block, index);
    }
  }

  std::span<const Worth> worth_;
  std::vector<std::vector<std::pair<Bits, std::size_t>>> by_lowest_;
  std::vector<std::optional<Least>> least_;
  std::vector<std::optional<Sum>> sum_;
};

std::int64_t millionths(double rate_GBps) {
  constexpr double kMillion = 1e6;
  constexpr double kMost = 1e15;  // what sums of 16 keep within 64 bits; infinity becomes this
  return std::llround(std::min(rate_GBps * kMillion, kMost));
}

using Partition = std::vector<DeviceSet>;

/// Equal ports side by side: no other partition has a greater sum of narrowest ports, and the
/// narrowest of all is the same in each.
Partition by_ports(std::span<const int> pool, std::span<const double> ports, std::size_t k,
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

/// Begins with quick upper bounds and solves only what the best partition so far is made of: once
/// all of that is exact, no other partition can be better.
Partition search(const Graph& graph, std::span<const int> pool, std::size_t k,
                 const BoundOptions& options) {
  constexpr double kUnlimited = 1e9;  // above all scores; infinity would be near to every score
  const TieBreaker ties(graph);
  const Rater rater(graph, pool, options);
  ScoreCache cache(rater, all_sets(pool, k));
  const std::vector<DeviceSet>& sets = cache.sets();
  const BlockSearch search(pool.size(), k);
  for (;;) {
    std::vector<Scores> scores;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const Scores upper = cache.upper(i);
      scores.push_back({.ring_GBps = std::min(upper.ring_GBps, kUnlimited),
                        .bound_GBps = std::min(upper.bound_GBps, kUnlimited)});
    }
    join_classes(scores);
    std::vector<Worth> worth;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      worth.push_back(worth_of(scores[i], ties.of(sets[i])));
    }
    Partition found;
    bool news = false;
    for (const std::size_t block : search.best(worth)) {
      news = cache.solve(block) || news;
      found.push_back(sets[block]);
    }
    if (!news) return found;
  }
}

std::optional<Partition> partition_pool(const Graph& graph, const std::vector<int>& pool,
                                        std::size_t k, const BoundOptions& options) {
  if (k >= 2) {
    if (const auto ports = switch_ports(graph, pool, options)) {
      return by_ports(pool, *ports, k, TieBreaker(graph));
    }
  }
  if (k == 1 || k == pool.size() || pool.size() > kMostBlockDevices) {
    if (k != 1 && k != pool.size()) return {};
    return by_ports(pool, std::vector<double>(pool.size(), 0), k, TieBreaker(graph));
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
  Scores least{};
  double sum = 0;
  for (const DeviceSet& block : partition) {
    Choice& choice = choices.emplace_back();
    choice.policy = Policy::Best;
    choice.bound = bound_of(graph, block, options);
    const Scores own{.ring_GBps = choice.bound.ring_GBps, .bound_GBps = choice.bound.bound_GBps};
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

Worth worth_of(const Scores& scores, const Tie& tie) {
  constexpr std::int64_t kStep = std::int64_t{1} << 20U;  // above all NIC steps of 16 devices
  return {.ring = millionths(scores.ring_GBps),
          .bound = millionths(scores.bound_GBps),
          .tie = -((tie.off_pairs * kStep + tie.numa_nodes) * kStep + tie.nic_steps)};
}

BlockSearch::BlockSearch(std::size_t n, std::size_t k) : n_(n) {
  std::vector<int> devices(n);
  std::iota(devices.begin(), devices.end(), 0);
  blocks_ = all_sets(devices, k);
}

std::vector<std::size_t> BlockSearch::best(std::span<const Worth> worth) const {
  Division division(n_, blocks_, worth);
  const Bits all = (Bits{1} << n_) - 1;
  const Least limit = division.least(all);
  std::vector<std::size_t> found;
  for (Bits rest = all; rest != 0; rest &= ~bits_of(blocks_[found.back()])) {
    found.push_back(division.sum(rest, limit).first);
  }
  return found;
}

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
