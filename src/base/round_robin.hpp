// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace busbar {

/// Disjoint pairs of players, which are numbers from 0; the lower number first.
using RoundOfPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// All pairs in rounds (the circle method): n - 1 rounds for even n; for odd n, n rounds in each of
/// which another player rests.
[[nodiscard]] inline std::vector<RoundOfPairs> round_robin(std::size_t players) {
  std::vector<RoundOfPairs> rounds;
  if (players < 2) return rounds;
  const std::size_t seats = players + players % 2;  // who meets the seat that is too many rests
  const std::size_t turn = seats - 1;  // the last seat stays, the others turn around it
  for (std::size_t round = 0; round < turn; ++round) {
    RoundOfPairs pairs;
    if (turn < players) pairs.emplace_back(round, turn);
    for (std::size_t step = 1; step < seats / 2; ++step) {
      const std::size_t ahead = (round + step) % turn;
      const std::size_t behind = (round + turn - step) % turn;
      pairs.emplace_back(std::min(ahead, behind), std::max(ahead, behind));
    }
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

}  // namespace busbar
