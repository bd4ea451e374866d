// SPDX-License-Identifier: BSD-3-Clause
#include "stats/ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace busbar::stats {

std::vector<double> centered_ranks(std::span<const double> samples) {
  const std::size_t count = samples.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [samples](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });

  std::vector<double> ranks(count);
  for (std::size_t first = 0; first < count;) {
    std::size_t last = first + 1;
    while (last < count && samples[order[last]] == samples[order[first]]) ++last;
    // Ranks first + 1 .. last share (first + 1 + last) / 2; less (count + 1) / 2. Exact in halves.
    const double rank =
        (static_cast<double>(first) + static_cast<double>(last) - static_cast<double>(count)) / 2;
    for (; first < last; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

}  // namespace busbar::stats
