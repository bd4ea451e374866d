// SPDX-License-Identifier: BSD-3-Clause
#include "model/stopwatch.hpp"

#include <algorithm>

namespace busbar {

/// The median of many consecutive readings.
Seconds HostStopwatch::cost() {
  constexpr std::size_t kReadings = 1001;
  std::vector<Seconds> costs(kReadings);
  Clock::time_point last = Clock::now();
  for (Seconds& cost : costs) {
    const Clock::time_point now = Clock::now();
    cost = now - last;
    last = now;
  }
  const auto middle = costs.begin() + kReadings / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return std::max(*middle, Seconds{1e-9});
}

}  // namespace busbar
