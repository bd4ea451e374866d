// SPDX-License-Identifier: BSD-3-Clause
#include "stats/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/summary.hpp"

namespace busbar::stats {
namespace {

constexpr std::size_t kMostExactPairs = 50;
constexpr double kLevel = 0.05;

/// Twice the mid-ranks of the absolute values, which are whole numbers.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& ascending) {
  std::vector<std::size_t> ranks;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t end = first;
    while (end < ascending.size() && ascending[end] == ascending[first]) ++end;
    ranks.resize(end, first + 1 + end);
    first = end;
  }
  return ranks;
}

double normal_tail(double sum, double mean, double deviation) {
  return std::erfc((mean - sum - 0.5) / deviation / std::sqrt(2.0)) / 2;
}

/// P(the sum of the ranks of one sign is at most `sum`), both doubled.
double lower_tail(const std::vector<std::size_t>& ranks, std::size_t sum) {
  std::size_t total = 0;
  double squares = 0;
  for (const std::size_t rank : ranks) {
    total += rank;
    squares += static_cast<double>(rank * rank);
  }
  if (ranks.size() > kMostExactPairs) {
    return normal_tail(static_cast<double>(sum) / 2, static_cast<double>(total) / 4,
                       std::sqrt(squares / 16));
  }
  std::vector<double> chances(total + 1);  // of each sum
  chances[0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t at = total + 1; at-- > 0;) {
      chances[at] = (chances[at] + (at >= rank ? chances[at - rank] : 0)) / 2;
    }
  }
  double tail = 0;
  for (std::size_t at = 0; at <= std::min(sum, total); ++at) tail += chances[at];
  return tail;
}

/// How many averages on each side are outside of an interval of 95 %; 0: so few pairs have none.
std::size_t averages_outside(std::size_t count) {
  std::vector<std::size_t> ranks(count);
  for (std::size_t i = 0; i < count; ++i) ranks[i] = 2 * (i + 1);
  std::size_t outside = 0;
  while (2 * lower_tail(ranks, 2 * outside) <= kLevel) ++outside;
  return outside;
}

}  // namespace

SignedRank signed_rank(std::span<const double> differences) {
  SignedRank result;
  if (differences.empty()) return result;
  std::vector<double> averages;  // of two pairs, and of each with itself
  std::vector<double> sizes;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (differences[i] != 0) sizes.push_back(std::abs(differences[i]));
    for (std::size_t j = i; j < differences.size(); ++j) {
      averages.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::ranges::sort(averages);
  result.shift = median(averages);
  if (const std::size_t outside = averages_outside(differences.size()); outside > 0) {
    result.interval = Interval{averages[outside - 1], averages[averages.size() - outside]};
  }
  std::ranges::sort(sizes);
  result.pairs = sizes.size();
  if (sizes.empty()) return result;
  const std::vector<std::size_t> ranks = doubled_ranks(sizes);
  std::size_t above = 0;
  std::size_t below = 0;
  for (const double difference : differences) {
    if (difference == 0) continue;
    const auto at = std::ranges::lower_bound(sizes, std::abs(difference)) - sizes.begin();
    (difference > 0 ? above : below) += ranks[static_cast<std::size_t>(at)];
  }
  result.p = std::min(1.0, 2 * lower_tail(ranks, std::min(above, below)));
  return result;
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
