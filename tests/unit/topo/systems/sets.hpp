// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <numeric>
#include <vector>

namespace busbar::topo {

/// 0 to k - 1.
[[nodiscard]] inline std::vector<int> prefix(int k) {
  std::vector<int> set(static_cast<std::size_t>(k));
  std::iota(set.begin(), set.end(), 0);
  return set;
}

/// All sets of k of n, in order.
[[nodiscard]] inline std::vector<std::vector<int>> sets_of(int n, int k) {
  std::vector<std::vector<int>> sets;
  std::vector<int> set = prefix(k);
  while (true) {
    sets.push_back(set);
    int at = k - 1;
    while (at >= 0 && set[static_cast<std::size_t>(at)] == n - k + at) --at;
    if (at < 0) return sets;
    ++set[static_cast<std::size_t>(at)];
    for (int i = at + 1; i < k; ++i)
      set[static_cast<std::size_t>(i)] = set[static_cast<std::size_t>(i - 1)] + 1;
  }
}

}  // namespace busbar::topo
