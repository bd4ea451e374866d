// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace busbar {

/// Disjoint pairs of players, which are numbers from 0; the lower number first.
using RoundOfPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// All pairs in rounds (the circle method): n - 1 rounds for even n; for odd n, n rounds in each of
/// which another player rests.
[[nodiscard]] std::vector<RoundOfPairs> round_robin(std::size_t players);

}  // namespace busbar
