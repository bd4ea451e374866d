// SPDX-License-Identifier: BSD-3-Clause
#include "stats/summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace busbar::stats {
namespace {

/// 0-based place of the nearest rank; the slack keeps 0.9 * 10 from becoming rank 10.
std::size_t nearest_place(std::size_t count, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(count) - 1e-9);
  const auto last = static_cast<double>(count);
  return static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1;
}

}  // namespace

double median(std::span<const double> samples) {
  assert(!samples.empty());
  std::vector<double> copy(samples.begin(), samples.end());
  const auto upper = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), upper, copy.end());
  if (copy.size() % 2 == 1) return *upper;
  return std::midpoint(*std::max_element(copy.begin(), upper), *upper);
}

double percentile(std::span<const double> samples, double percent) {
  assert(!samples.empty());
  std::vector<double> copy(samples.begin(), samples.end());
  const auto place =
      copy.begin() + static_cast<std::ptrdiff_t>(nearest_place(copy.size(), percent));
  std::nth_element(copy.begin(), place, copy.end());
  return *place;
}

double robust_deviation(std::span<const double> samples) {
  const double middle = median(samples);
  std::vector<double> distances(samples.begin(), samples.end());
  for (double& each : distances) each = std::abs(each - middle);
  return kMadScale * median(distances);
}

std::optional<Summary> summarize(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size();
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const double mean = total / static_cast<double>(count);
  double squares = 0;
  for (const double sample : sorted) squares += (sample - mean) * (sample - mean);
  return Summary{.count = count,
                 .mean = mean,
                 .min = sorted.front(),
                 .median = std::midpoint(sorted[(count - 1) / 2], sorted[count / 2]),
                 .p90 = sorted[nearest_place(count, 90)],
                 .p99 = sorted[nearest_place(count, 99)],
                 .max = sorted.back(),
                 .deviation = std::sqrt(squares / static_cast<double>(count))};
}

}  // namespace busbar::stats
