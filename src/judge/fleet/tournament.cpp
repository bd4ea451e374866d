// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "judge/fleet/fleet.hpp"

namespace busbar::judge {

std::vector<std::vector<PairValue>> tournament(std::size_t nodes) {
  std::vector<std::vector<PairValue>> rounds;
  if (nodes < 2) return rounds;
  const std::size_t seats = nodes + nodes % 2;  // who meets the seat that is too many rests
  const std::size_t turn = seats - 1;           // the last seat stays, the others turn around it
  for (std::size_t round = 0; round < turn; ++round) {
    std::vector<PairValue> pairs;
    if (turn < nodes) pairs.push_back({.first = round, .second = turn});
    for (std::size_t step = 1; step < seats / 2; ++step) {
      const std::size_t ahead = (round + step) % turn;
      const std::size_t behind = (round + turn - step) % turn;
      pairs.push_back({.first = std::min(ahead, behind), .second = std::max(ahead, behind)});
    }
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

}  // namespace busbar::judge
