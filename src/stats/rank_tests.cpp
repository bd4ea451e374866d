// SPDX-License-Identifier: BSD-3-Clause
#include "stats/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/lists.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"

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

/// Twice the mid-ranks of the values, which are whole numbers.
std::vector<std::size_t> doubled_ranks(std::span<const double> values) {
  const double middle = (static_cast<double>(values.size()) + 1) / 2;
  return mapped(centered_ranks(values), [=](double rank) {
    return static_cast<std::size_t>(std::llround(2 * (rank + middle)));
  });
}

double exact_p(std::span<const std::size_t> doubled, std::size_t taken, std::size_t sum) {
  const std::vector<double> ways = ways_to_sum(doubled, taken);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const auto at = ways.begin() + static_cast<std::ptrdiff_t>(sum);
  const double below = std::accumulate(ways.begin(), at + 1, 0.0);
  const double above = std::accumulate(at, ways.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above) / all);
}

/// `u`: pairs in which the first sample's value is the larger; ties count half.
double approximate_p(std::span<const std::size_t> doubled, double n, double m, double u) {
  std::map<std::size_t, double> equal;
  for (const std::size_t rank : doubled) ++equal[rank];
  double ties = 0;
  for (const auto& [rank, t] : equal) ties += t * t * t - t;
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  constexpr double kContinuity = 0.5;
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - kContinuity);
  return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

double log_choose(double all, double some) {
  return std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1);
}

double log_beta(double first, double second) {
  return std::lgamma(first) + std::lgamma(second) - std::lgamma(first + second);
}

/// P(the sum of the ranks of one sign is at most `sum`), both doubled.
double lower_tail(std::span<const std::size_t> ranks, std::size_t sum) {
  constexpr std::size_t kMostExactPairs = 50;
  std::size_t total = 0;
  double squares = 0;
  for (const std::size_t rank : ranks) {
    total += rank;
    squares += static_cast<double>(rank * rank);
  }
  if (ranks.size() > kMostExactPairs) {
    const double mean = static_cast<double>(total) / 4;
    const double distance = mean - static_cast<double>(sum) / 2 - 0.5;
    return std::erfc(distance / std::sqrt(squares / 16) / std::sqrt(2.0)) / 2;
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
  constexpr double kLevel = 0.05;
  std::vector<std::size_t> ranks(count);
  for (std::size_t i = 0; i < count; ++i) ranks[i] = 2 * (i + 1);
  std::size_t outside = 0;
  while (2 * lower_tail(ranks, 2 * outside) <= kLevel) ++outside;
  return outside;
}

}  // namespace

double mann_whitney_p(std::span<const double> first, std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  append(all, second);
  const std::vector<std::size_t> doubled = doubled_ranks(all);
  const auto own = doubled.begin() + static_cast<std::ptrdiff_t>(first.size());
  const std::size_t sum = std::accumulate(doubled.begin(), own, std::size_t{0});
  if (all.size() <= kMostExact) return exact_p(doubled, first.size(), sum);
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  return approximate_p(doubled, n, m, static_cast<double>(sum) / 2 - n * (n + 1) / 2);
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

double binomial_tail(double successes, double trials, double chance) {
  if (chance <= 0) return successes > 0 ? 0 : 1;
  if (chance >= 1) return 1;
  double tail = 0;
  const auto count = static_cast<std::size_t>(std::max(0.0, trials - successes + 1));
  for (std::size_t i = 0; i < count; ++i) {
    const double k = successes + static_cast<double>(i);
    tail +=
        std::exp(log_choose(trials, k) + k * std::log(chance) + (trials - k) * std::log1p(-chance));
  }
  return std::min(tail, 1.0);
}

// The share of the distribution below the (below + 1)-th of n sorted values is Beta(below + 1,
// n - below); given that share each try is below it by itself.
double precedence_p(std::size_t below, std::size_t reference, std::size_t tries, std::size_t low) {
  if (below >= reference) return 1;
  const auto first = static_cast<double>(below + 1);
  const auto second = static_cast<double>(reference - below);
  double p = 0;
  for (std::size_t count = low; count <= tries; ++count) {
    const auto hits = static_cast<double>(count);
    const auto misses = static_cast<double>(tries - count);
    p += std::exp(log_choose(static_cast<double>(tries), hits) +
                  log_beta(first + hits, second + misses) - log_beta(first, second));
  }
  return std::min(p, 1.0);
}

double hypergeometric_tail(std::size_t hits, std::size_t drawn, std::size_t marked,
                           std::size_t all) {
  const auto choose = [](std::size_t n, std::size_t k) {
    return log_choose(static_cast<double>(n), static_cast<double>(k));
  };
  double p = 0;
  for (std::size_t count = hits; count <= std::min(drawn, marked); ++count) {
    if (drawn - count > all - marked) continue;
    p += std::exp(choose(marked, count) + choose(all - marked, drawn - count) - choose(all, drawn));
  }
  return std::min(p, 1.0);
}

SignedRank signed_rank(std::span<const double> differences) {
  SignedRank result;
  if (differences.empty()) return result;
  std::vector<double> averages;  // of two pairs, and of each with itself
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      averages.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::ranges::sort(averages);
  result.shift = median(averages);
  if (const std::size_t outside = averages_outside(differences.size()); outside > 0) {
    result.interval = Interval{averages[outside - 1], averages[averages.size() - outside]};
  }
  const auto differing = filtered(differences, [](double each) { return each != 0; });
  if (differing.empty()) return result;
  const auto ranks = doubled_ranks(mapped(differing, [](double each) { return std::abs(each); }));
  std::size_t above = 0;
  std::size_t below = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) (differing[i] > 0 ? above : below) += ranks[i];
  result.p = std::min(1.0, 2 * lower_tail(ranks, std::min(above, below)));
  return result;
}

double least_signed_p(std::size_t pairs) {
  return std::min(1.0, std::exp2(1 - static_cast<double>(pairs)));
}

std::vector<double> holm(std::span<const double> ps) {
  auto order = first_numbers<std::size_t>(ps.size());
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
