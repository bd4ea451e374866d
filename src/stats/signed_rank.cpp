// SPDX-License-Identifier: BSD-3-Clause
#include "stats/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/autocorrelation.hpp"

namespace busbar::stats {
namespace {

constexpr std::size_t kMostCounted = 50;

/// Of all choices of signs, the share with each sum of the positive ones' weights.
std::vector<double> shares_of_sums(std::span<const std::size_t> weights) {
  const std::size_t most = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  std::vector<double> shares(most + 1);
  shares[0] = 1;
  for (const std::size_t weight : weights) {
    for (std::size_t sum = most + 1; sum-- > 0;) {
      shares[sum] = (shares[sum] + (sum >= weight ? shares[sum - weight] : 0)) / 2;
    }
  }
  return shares;
}

}  // namespace

SignedRank signed_rank(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    positive.push_back(difference > 0);
  }
  SignedRank result{.p = 1, .pairs = sizes.size()};
  if (sizes.empty()) return result;
  const double middle = (static_cast<double>(sizes.size()) + 1) / 2;
  std::vector<std::size_t> doubled;  // twice the mid-ranks
  std::size_t sum = 0;
  double squares = 0;
  for (const double rank : centered_ranks(sizes)) {
    doubled.push_back(static_cast<std::size_t>(std::llround(2 * (rank + middle))));
    const auto weight = static_cast<double>(doubled.back());
    squares += weight * weight;
    if (positive[doubled.size() - 1]) sum += doubled.back();
  }
  if (doubled.size() <= kMostCounted) {
    const std::vector<double> shares = shares_of_sums(doubled);
    const auto at = shares.begin() + static_cast<std::ptrdiff_t>(sum);
    const double below = std::accumulate(shares.begin(), at + 1, 0.0);
    const double above = std::accumulate(at, shares.end(), 0.0);
    result.p = std::min(1.0, 2 * std::min(below, above));
    return result;
  }
  // Each weight is in the sum by half a chance: variance weight^2 / 4, of twice the ranks.
  const double all = std::accumulate(doubled.begin(), doubled.end(), 0.0);
  const double distance = std::max(0.0, std::abs(static_cast<double>(sum) - all / 2) - 1);
  result.p = std::min(1.0, std::erfc(distance / std::sqrt(squares / 2)));
  return result;
}

std::optional<Interval> signed_interval(std::span<const double> differences) {
  const std::size_t n = differences.size();
  constexpr double kTail = 0.025;
  std::size_t cut = 0;  // the largest number of means that may be cut off each side
  if (n <= kMostCounted) {
    std::vector<std::size_t> ranks(n);
    std::iota(ranks.begin(), ranks.end(), std::size_t{1});
    double below = 0;
    for (const double share : shares_of_sums(ranks)) {
      below += share;
      if (below > kTail) break;
      ++cut;
    }
  } else {
    constexpr double kNormal = 1.959964;
    const auto count = static_cast<double>(n);
    const double half = count * (count + 1) / 4;
    cut = static_cast<std::size_t>(half - kNormal * std::sqrt(half * (2 * count + 1) / 6));
  }
  if (cut == 0) return std::nullopt;
  std::vector<double> means;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) means.push_back((differences[i] + differences[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  return Interval{.low = means[cut - 1], .high = means[means.size() - cut]};
}

double least_signed_p(std::size_t pairs) {
  return std::min(1.0, std::exp2(1 - static_cast<double>(pairs)));
}

std::vector<double> holm(std::span<const double> ps) {
  std::vector<std::size_t> order(ps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return ps[i]; });
  std::vector<double> adjusted(ps.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(ps.size() - rank);
    largest = std::max(largest, std::min(1.0, left * ps[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace busbar::stats
