// SPDX-License-Identifier: BSD-3-Clause
#include "stats/rank_tests.hpp"

#include <algorithm>
#include <cmath>

namespace busbar::stats {
namespace {

double log_choose(double all, double some) {
  return std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1);
}

double log_beta(double first, double second) {
  return std::lgamma(first) + std::lgamma(second) - std::lgamma(first + second);
}

}  // namespace

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

}  // namespace busbar::stats
