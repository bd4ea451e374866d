// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace busbar::topo {
namespace {

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

}  // namespace busbar::topo
