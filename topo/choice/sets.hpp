// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace busbar::topo {

/// Ascending indices of devices.
using DeviceSet = std::vector<int>;

/// What a count of sets stops at: "this many or more". C(72, 36) is 4.4e20, above 64 bits.
inline constexpr std::uint64_t kManySets = std::numeric_limits<std::uint64_t>::max();
/// More sets than these are not tried one by one.
inline constexpr std::uint64_t kMostSets = 20'000;

/// one + other, or kManySets.
[[nodiscard]] std::uint64_t add_counts(std::uint64_t one, std::uint64_t other);
/// one * other, or kManySets.
[[nodiscard]] std::uint64_t multiply_counts(std::uint64_t one, std::uint64_t other);
/// C(n, k), or kManySets; 0 where k > n.
[[nodiscard]] std::uint64_t count_sets(std::size_t n, std::size_t k);
/// C(n, k) to 15 digits, for shares of what saturates.
[[nodiscard]] double about_sets(std::size_t n, std::size_t k);
/// "1 set", "70 sets", "more than 1.8e19 sets".
[[nodiscard]] std::string counted_sets(std::uint64_t count);

/// All sets of k of the pool (ascending), in lexicographic order; one empty set for k = 0.
[[nodiscard]] std::vector<DeviceSet> all_sets(std::span<const int> pool, std::size_t k);

/// "{0,3}".
[[nodiscard]] std::string describe_set(std::span<const int> set);

}  // namespace busbar::topo
