// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace busbar {

/// Two players, which are numbers from 0; the lower first.
using NumberPair = std::pair<std::size_t, std::size_t>;
/// Disjoint ones.
using RoundOfPairs = std::vector<NumberPair>;

[[nodiscard]] constexpr NumberPair pair_of(std::size_t one, std::size_t other) {
  return {std::min(one, other), std::max(one, other)};
}

/// Rounds in which all pairs meet once (the circle method): n - 1 for even n; for odd n, n rounds
/// in each of which another player rests.
[[nodiscard]] constexpr std::size_t round_robin_rounds(std::size_t players) {
  return players < 2 ? 0 : players + players % 2 - 1;
}

/// One of them, from 0.
[[nodiscard]] inline RoundOfPairs round_robin_round(std::size_t players, std::size_t round) {
  const std::size_t seats = players + players % 2;  // who meets the seat that is too many rests
  const std::size_t turn = seats - 1;  // the last seat stays, the others turn around it
  RoundOfPairs pairs;
  if (turn < players) pairs.emplace_back(round, turn);
  for (std::size_t step = 1; step < seats / 2; ++step) {
    const std::size_t ahead = (round + step) % turn;
    const std::size_t behind = (round + turn - step) % turn;
    pairs.push_back(pair_of(ahead, behind));
  }
  return pairs;
}

/// All of them.
[[nodiscard]] inline std::vector<RoundOfPairs> round_robin(std::size_t players) {
  std::vector<RoundOfPairs> rounds;
  for (std::size_t round = 0; round < round_robin_rounds(players); ++round) {
    rounds.push_back(round_robin_round(players, round));
  }
  return rounds;
}

}  // namespace busbar
