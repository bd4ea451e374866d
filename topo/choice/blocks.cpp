// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

namespace busbar::topo {
namespace {

using Bits = std::size_t;

/// What blocks are compared by when the least counts.
struct Least {
  std::int64_t ring = 0;
  std::int64_t bound = 0;

  friend auto operator<=>(const Least&, const Least&) = default;
};

Least least_of(const Worth& worth) { return {.ring = worth.ring, .bound = worth.bound}; }

/// The lowest device of a set, as bits; a block of the partition that has it comes first.
Bits lowest(Bits set) { return set & (~set + 1); }

/// Calls with each k-subset of `set` that has its lowest device, in lexicographic order.
template <class Call>
void each_block(Bits set, std::size_t k, const Call& call) {
  std::vector<Bits> members;
  for (Bits rest = set & ~lowest(set); rest != 0; rest &= rest - 1) members.push_back(lowest(rest));
  std::vector<std::size_t> places(k - 1);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  for (;;) {
    Bits block = lowest(set);
    for (const std::size_t place : places) block |= members[place];
    call(block);
    std::size_t i = places.size();
    while (i > 0 && places[i - 1] == members.size() - places.size() + i - 1) --i;
    if (i == 0) return;
    ++places[i - 1];
    for (; i < places.size(); ++i) places[i] = places[i - 1] + 1;
  }
}

/// The least block of the best partition of each set, found once: max-min splits, as a sum does.
class Bottleneck {
 public:
  Bottleneck(const std::vector<Worth>& worth, std::size_t k)
      : worth_(worth), k_(k), known_(worth.size()) {}

  Least of(Bits set) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    if (set == 0) return {.ring = kMost, .bound = kMost};
    if (known_[set]) return *known_[set];
    std::optional<Least> best;
    each_block(set, k_, [&](Bits block) {
      const Least own = least_of(worth_[block]);
      if (best && own <= *best) return;
      const Least least = std::min(own, of(set & ~block));
      if (!best || least > *best) best = least;
    });
    known_[set] = best;
    return *best;
  }

 private:
  const std::vector<Worth>& worth_;
  std::size_t k_;
  std::vector<std::optional<Least>> known_;
};

/// The greatest sum of each set over blocks that reach a figure.
class Sum {
 public:
  Sum(const std::vector<Worth>& worth, std::size_t k, Least least)
      : worth_(worth), k_(k), least_(least), known_(worth.size()) {}

  /// Nothing where no partition has only such blocks.
  const std::optional<Worth>& of(Bits set) {
    Entry& entry = known_[set];
    if (entry.done) return entry.worth;
    if (set == 0) {
      entry = {.done = true, .worth = Worth{}};
      return entry.worth;
    }
    Entry best{.done = true};
    each_block(set, k_, [&](Bits block) {
      if (least_of(worth_[block]) < least_) return;
      const std::optional<Worth>& rest = of(set & ~block);
      if (!rest) return;
      const Worth sum = worth_[block].plus(*rest);
      if (!best.worth || sum > *best.worth) {
        best.worth = sum;
        best.block = block;
      }
    });
    known_[set] = best;
    return known_[set].worth;
  }

  [[nodiscard]] Bits block_of(Bits set) const { return known_[set].block; }

 private:
  struct Entry {
    bool done = false;
    std::optional<Worth> worth{};
    Bits block = 0;
  };

  const std::vector<Worth>& worth_;
  std::size_t k_;
  Least least_;
  std::vector<Entry> known_;
};

std::int64_t millionths(double rate_GBps) {
  constexpr double kMillion = 1e6;
  constexpr double kMost = 1e15;  // what sums of 16 keep within 64 bits; infinity becomes this
  return std::llround(std::min(rate_GBps * kMillion, kMost));
}

}  // namespace

Worth worth_of(double ring_GBps, double bound_GBps, const Tie& tie) {
  constexpr std::int64_t kStep = std::int64_t{1} << 20U;  // above all NIC steps of 16 devices
  return {.ring = millionths(ring_GBps),
          .bound = millionths(bound_GBps),
          .tie = -((tie.off_pairs * kStep + tie.numa_nodes) * kStep + tie.nic_steps)};
}

std::size_t Blocks::bits(std::span<const int> block) {
  Bits set = 0;
  for (const int device : block) set |= Bits{1} << static_cast<unsigned>(device);
  return set;
}

std::vector<std::vector<int>> Blocks::best_partition() const {
  const Bits all = (Bits{1} << n_) - 1;
  Sum sum(worth_, k_, Bottleneck(worth_, k_).of(all));
  (void)sum.of(all);
  std::vector<std::vector<int>> blocks;
  for (Bits rest = all; rest != 0;) {
    (void)sum.of(rest);
    const Bits block = sum.block_of(rest);
    std::vector<int> devices;
    for (Bits left = block; left != 0; left &= left - 1) {
      devices.push_back(std::countr_zero(left));
    }
    blocks.push_back(std::move(devices));
    rest &= ~block;
  }
  return blocks;
}

}  // namespace busbar::topo
