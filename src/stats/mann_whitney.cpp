// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mann_whitney.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/autocorrelation.hpp"

namespace busbar::stats {
namespace {

constexpr std::size_t kMostExact = 60;

/// Ways to take `taken` of the weights so that they sum to each total, as doubles: C(60, 30) is
/// below 2^57, and a relative error of 1e-13 does not matter to a probability.
std::vector<double> ways_to_sum(std::span<const std::size_t> weights, std::size_t taken) {
  const std::size_t most = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(taken + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const std::size_t weight : weights) {
    for (std::size_t count = taken; count > 0; --count) {
      for (std::size_t sum = weight; sum <= most; ++sum) {
        ways[count][sum] += ways[count - 1][sum - weight];
      }
    }
  }
  return ways[taken];
}

struct Pooled {
  std::vector<std::size_t> doubled;  // twice the mid-rank of each value, the first sample's first
  double ties = 0;                   // sum of t^3 - t over groups of t equal values
};

Pooled pool(std::span<const double> first, std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  const double middle = (static_cast<double>(all.size()) + 1) / 2;
  Pooled pooled;
  for (const double rank : centered_ranks(all)) {
    pooled.doubled.push_back(static_cast<std::size_t>(std::llround(2 * (rank + middle))));
  }
  std::sort(all.begin(), all.end());
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::upper_bound(begin, all.end(), *begin);
    const auto equal = static_cast<double>(end - begin);
    pooled.ties += equal * equal * equal - equal;
    begin = end;
  }
  return pooled;
}

double exact_p(const Pooled& pooled, std::size_t taken, std::size_t sum) {
  const std::vector<double> ways = ways_to_sum(pooled.doubled, taken);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const auto at = ways.begin() + static_cast<std::ptrdiff_t>(sum);
  const double below = std::accumulate(ways.begin(), at + 1, 0.0);
  const double above = std::accumulate(at, ways.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above) / all);
}

double approximate_p(const Pooled& pooled, double n, double m, double u) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - pooled.ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  constexpr double kContinuity = 0.5;
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - kContinuity);
  return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second) {
  const Pooled pooled = pool(first, second);
  const auto own = pooled.doubled.begin() + static_cast<std::ptrdiff_t>(first.size());
  const std::size_t sum = std::accumulate(pooled.doubled.begin(), own, std::size_t{0});
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  MannWhitney result{.u = static_cast<double>(sum) / 2 - n * (n + 1) / 2};
  result.exact = pooled.doubled.size() <= kMostExact;
  result.p =
      result.exact ? exact_p(pooled, first.size(), sum) : approximate_p(pooled, n, m, result.u);
  return result;
}

double least_p(std::size_t first, std::size_t second) {
  double sets = 1;
  for (std::size_t i = 1; i <= first; ++i) {
    sets *= static_cast<double>(second + i) / static_cast<double>(i);
  }
  return std::min(1.0, 2 / sets);
}

std::size_t fewest_for(double level) {
  constexpr std::size_t kMost = 30;
  std::size_t count = 1;
  while (count < kMost && least_p(count, count) >= level) ++count;
  return count;
}

std::optional<Interval> shift_interval(std::span<const double> first,
                                       std::span<const double> second) {
  const std::size_t n = first.size();
  const std::size_t m = second.size();
  if (n == 0 || m == 0) return std::nullopt;
  constexpr double kTail = 0.025;
  // The largest number of pairs that may be cut off each side.
  std::size_t cut = 0;
  if (n + m <= kMostExact) {
    std::vector<std::size_t> ranks(n + m);
    std::iota(ranks.begin(), ranks.end(), std::size_t{1});
    const std::vector<double> ways = ways_to_sum(ranks, n);
    const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
    double below = 0;
    for (std::size_t u = 0; u <= n * m; ++u, ++cut) {
      below += ways[u + n * (n + 1) / 2];
      if (below / all > kTail) break;
    }
  } else {
    constexpr double kNormal = 1.959964;
    const auto pairs = static_cast<double>(n * m);
    const double half =
        pairs / 2 - kNormal * std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    cut = half > 0 ? static_cast<std::size_t>(half) : 0;
  }
  if (cut == 0) return std::nullopt;
  std::vector<double> shifts;
  for (const double before : first) {
    for (const double after : second) shifts.push_back(after - before);
  }
  std::sort(shifts.begin(), shifts.end());
  return Interval{.low = shifts[cut - 1], .high = shifts[shifts.size() - cut]};
}

}  // namespace busbar::stats
