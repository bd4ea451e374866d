// SPDX-License-Identifier: BSD-3-Clause
#include "stats/median_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace busbar::stats {
namespace {

constexpr double kMissOnEachSide = 0.025;
constexpr std::size_t kFewestIndependent = 6;  // 2 * 2^-6 = 3.1 %, but 2 * 2^-5 = 6.3 %

/// The largest j with P(Binomial(count, 1/2) < j) <= 2.5 %; 0 where there is none.
std::size_t exact_low_rank(std::size_t count) {
  const auto trials = static_cast<double>(count);
  double log_mass = -trials * std::numbers::ln2;
  double tail = std::exp(log_mass);
  std::size_t rank = 0;
  while (tail <= kMissOnEachSide) {
    const auto successes = static_cast<double>(rank);
    log_mass += std::log((trials - successes) / (successes + 1));
    tail += std::exp(log_mass);
    ++rank;
  }
  return rank;
}

}  // namespace

std::optional<RankPair> median_ranks(std::size_t count, double iact, double stretch) {
  const auto samples = static_cast<double>(count);
  const double independent = std::floor(samples / std::max(iact, 1.0) + 1e-9);
  if (independent < static_cast<double>(kFewestIndependent)) return std::nullopt;

  const auto exact = static_cast<double>(exact_low_rank(static_cast<std::size_t>(independent)));
  const double reach = ((independent + 1) / 2 - exact) * samples / independent * stretch;
  // Nearest rank, not outward: outward costs 9 % of width at n = 50, where 98 % are covered anyway.
  const double low = std::max(std::floor((samples + 1) / 2 - reach + 0.5), 1.0);
  const auto low_rank = static_cast<std::size_t>(low);
  return RankPair{.low = low_rank, .high = count + 1 - low_rank};
}

}  // namespace busbar::stats
