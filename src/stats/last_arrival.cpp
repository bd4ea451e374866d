// SPDX-License-Identifier: BSD-3-Clause
#include "stats/last_arrival.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "stats/autocorrelation.hpp"
#include "stats/rank_tests.hpp"

namespace busbar::stats {
namespace {

/// Of each of the two tests. So strict, because a run has many rows, and a machine that does other
/// things too has ranks that are late by chance for a while.
constexpr double kSignificance = 1e-4;

/// Whether `hits` (1 or 0 each, in time) are more than `chance` gives independent samples of them.
bool is_beyond_chance(std::span<const double> hits, double chance, double tests) {
  const double trials =
      std::floor(static_cast<double>(hits.size()) / integrated_autocorrelation_time(hits));
  double sum = 0;
  for (const double hit : hits) sum += hit;
  const double successes = std::floor(trials * sum / static_cast<double>(hits.size()));
  return binomial_tail(successes, trials, chance) * tests < kSignificance;
}

}  // namespace

std::optional<int> find_last(std::span<const int> last, std::span<const double> chances) {
  if (last.empty() || chances.size() < 2) return std::nullopt;
  std::vector<std::size_t> counts(chances.size());
  for (const int which : last) ++counts.at(static_cast<std::size_t>(which));
  // By how often each was last beyond its chance.
  const auto excess = [&](int which) {
    const auto i = static_cast<std::size_t>(which);
    return static_cast<double>(counts[i]) - chances[i] * static_cast<double>(last.size());
  };
  std::vector<int> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::partial_sort(order, order.begin() + 2,
                            [&](int a, int b) { return excess(a) > excess(b); });
  const int first = order[0];
  const int second = order[1];
  std::vector<double> all;
  std::vector<double> of_both;  // of the samples in which one of the two was last
  for (const int which : last) {
    all.push_back(which == first ? 1 : 0);
    if (which == first || which == second) of_both.push_back(all.back());
  }
  const double chance = chances[static_cast<std::size_t>(first)];
  const double other = chances[static_cast<std::size_t>(second)];
  const bool found = is_beyond_chance(all, chance, static_cast<double>(chances.size())) &&
                     is_beyond_chance(of_both, chance / (chance + other), 1);
  return found ? std::optional{first} : std::nullopt;
}

}  // namespace busbar::stats
