// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/partition.hpp"

#include <bit>
#include <cmath>

#include "topo/choice/ranking.hpp"

namespace busbar::topo {
namespace {

/// A set of devices.
using Bits = std::size_t;

Bits bits_of(const DeviceSet& block) {
  Bits set = 0;
  for (const int device : block) set |= Bits{1} << to_size(device);
  return set;
}

/// What blocks are compared by when the least counts: ring, then bound.
using Least = std::pair<std::int64_t, std::int64_t>;

Least least_of(const Worth& worth) { return {worth.ring, worth.bound}; }

/// Best partitions of sets in blocks that are worth `limit` or more, each found once.
class Division {
 public:
  Division(std::size_t n, std::span<const DeviceSet> blocks, std::span<const Worth> worth,
           const Least& limit)
      : worth_(worth), by_lowest_(n), known_(Bits{1} << n) {
    known_.front() = Sum{.worth = Worth{}};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (least_of(worth[i]) < limit) continue;
      by_lowest_[to_size(blocks[i].front())].emplace_back(bits_of(blocks[i]), i);
    }
  }

  /// The greatest sum over the blocks of a set, where there is a partition, and the first of them.
  struct Sum {
    std::optional<Worth> worth{};
    std::size_t first = 0;
  };
  const Sum& sum(Bits set) {
    if (known_[set]) return *known_[set];
    Sum best;
    // The first block has the lowest device of the set.
    for (const auto& [block, index] : by_lowest_[static_cast<std::size_t>(std::countr_zero(set))]) {
      if ((block & ~set) != 0) continue;
      const Sum& rest = sum(set & ~block);
      if (!rest.worth) continue;
      const Worth& own = worth_[index];
      const Worth both{.ring = own.ring + rest.worth->ring,
                       .bound = own.bound + rest.worth->bound,
                       .tie = own.tie + rest.worth->tie};
      if (!best.worth || both > *best.worth) best = {.worth = both, .first = index};
    }
    return known_[set].emplace(best);
  }

 private:
  std::span<const Worth> worth_;
  std::vector<std::vector<std::pair<Bits, std::size_t>>> by_lowest_;
  std::vector<std::optional<Sum>> known_;
};

std::int64_t millionths(double rate_GBps) {
  constexpr double kMillion = 1e6;
  constexpr double kMost = 1e15;  // what sums of 16 keep within 64 bits; infinity becomes this
  return std::llround(std::min(rate_GBps * kMillion, kMost));
}

using Partition = std::vector<DeviceSet>;

/// Devices of one NUMA node side by side, where all blocks have the same bound.
Partition by_nodes(std::size_t k, const TieBreaker& ties) {
  std::vector<int> order = first_numbers(ties.devices());
  std::ranges::stable_sort(order,
                           [&](int one, int other) { return ties.numa(one) < ties.numa(other); });
  Partition blocks;
  for (auto first = order.begin(); first != order.end(); first += static_cast<std::ptrdiff_t>(k)) {
    DeviceSet& block = blocks.emplace_back(first, first + static_cast<std::ptrdiff_t>(k));
    std::ranges::sort(block);
  }
  std::ranges::sort(blocks);
  return blocks;
}

/// All devices of a graph; nothing where they are too many.
std::optional<Partition> divide(const Graph& graph, std::size_t k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  const TieBreaker ties(graph);
  if (k == 1 || k == n || equal_ports_GBps(graph, options)) return by_nodes(k, ties);
  if (n > kMostBlockDevices) return {};
  const Rater rater(graph, options);
  const std::vector<DeviceSet> sets = all_sets(n, k);
  const std::vector<Scores> scores = rater.rate(sets, rater.groups(sets));
  std::vector<Worth> worth;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    worth.push_back(worth_of(scores[i], ties.of(sets[i])));
  }
  Partition partition;
  for (const std::size_t block : best_blocks(n, sets, worth)) partition.push_back(sets[block]);
  return partition;
}

/// Each host by itself, where its devices are whole blocks.
std::optional<Partition> divide_hosts(const Graph& graph, std::size_t k,
                                      const BoundOptions& options) {
  Partition partition;
  for (const auto& [host, pool] : by_host(graph, first_numbers(device_count(graph)))) {
    if (pool.size() % k != 0) return {};
    const auto blocks = divide(keep_devices(graph, pool), k, options);
    if (!blocks) return {};
    for (const DeviceSet& block : *blocks) {
      DeviceSet& set = partition.emplace_back();
      for (const int device : block) set.push_back(pool[to_size(device)]);
    }
  }
  return partition;
}

std::vector<Choice> choices_of(const Graph& graph, const Partition& partition,
                               std::string_view where, const BoundOptions& options) {
  std::vector<Choice> choices;
  Scores least{};
  double sum = 0;
  for (const DeviceSet& block : partition) {
    const Bound& bound =
        choices.emplace_back(Choice{Policy::Best, bound_of(graph, block, options)}).bound;
    const Scores own{.ring_GBps = bound.ring_GBps, .bound_GBps = bound.bound_GBps};
    least = choices.size() == 1 ? own : std::min(least, own);
    sum += own.bound_GBps;
  }
  for (Choice& choice : choices) {
    choice.reason = fmt::format(
        "the least of {} blocks has {:.4g} GB/s, the most possible{}, and together they have "
        "{:.4g} GB/s",
        choices.size(), least.bound_GBps, where, sum);
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

std::vector<std::size_t> best_blocks(std::size_t n, std::span<const DeviceSet> blocks,
                                     std::span<const Worth> worth) {
  const Bits all = (Bits{1} << n) - 1;
  std::set<Least> limits;
  for (const Worth& one : worth) limits.insert(least_of(one));
  const auto first = std::next(limits.begin());  // the least leaves every block
  const auto limit = std::partition_point(first, limits.end(), [&](const Least& one) {
    return Division(n, blocks, worth, one).sum(all).worth.has_value();
  });
  Division division(n, blocks, worth, *std::prev(limit));
  std::vector<std::size_t> found;
  for (Bits rest = all; rest != 0; rest &= ~bits_of(blocks[found.back()])) {
    found.push_back(division.sum(rest).first);
  }
  return found;
}

std::vector<Choice> partition(const Graph& graph, int k, const BoundOptions& options) {
  const std::size_t n = device_count(graph);
  if (k < 1 || n == 0 || n % to_size(k) != 0) {
    throw usage_error("--partition: blocks of {} do not divide the {} devices of '{}'", k, n,
                      graph.name);
  }
  if (const auto all = divide(graph, to_size(k), options)) {
    return choices_of(graph, *all, "", options);
  }
  if (const auto hosts = divide_hosts(graph, to_size(k), options)) {
    return choices_of(graph, *hosts, " within each host", options);
  }
  throw usage_error(
      "--partition: {} devices that are not in one switched domain are too many to divide in "
      "blocks of {}; use a size that divides the devices of each host, at most {} per host",
      n, k, kMostBlockDevices);
}

}  // namespace busbar::topo
