// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_schedule.hpp"

#include <algorithm>
#include <tuple>

#include "stats/median_interval.hpp"
#include "stats/summary.hpp"

namespace busbar {

std::uint64_t GroupPace::that_fit(double window_us) const {
  constexpr double kMost = 2000;
  if (time_us <= 0) return static_cast<std::uint64_t>(kFewestMixOperations);
  const double period_us = std::max(1.0, gap_us + time_us);
  return static_cast<std::uint64_t>(std::clamp(window_us / period_us, kFewestMixOperations, kMost));
}

std::vector<Issue> order_of_issue(std::span<const GroupPace> paces) {
  std::vector<std::tuple<double, std::size_t, std::uint64_t>> due;
  for (std::size_t group = 0; group < paces.size(); ++group) {
    const GroupPace& pace = paces[group];
    for (std::uint64_t i = 0; i < pace.operations; ++i) {
      const double at = pace.start_us + static_cast<double>(i) * (pace.gap_us + pace.time_us);
      due.emplace_back(at, group, i);
    }
  }
  std::ranges::sort(due);
  std::vector<Issue> order;
  for (const auto& [at, group, operation] : due) order.push_back({group, operation});
  return order;
}

std::vector<std::vector<double>> shared_times(std::span<const GroupTimes> groups) {
  double begin_us = 0;  // of the last group to begin
  double end_us = 0;    // of the first to end; negative until one is known
  for (bool first = true; const GroupTimes& group : groups) {
    double last_us = 0;
    for (std::size_t i = 0; i < group.time_us.size(); ++i) {
      last_us = std::max(last_us, group.start_us[i] + group.time_us[i]);
    }
    begin_us = std::max(begin_us, *std::ranges::min_element(group.start_us));
    end_us = first ? last_us : std::min(end_us, last_us);
    first = false;
  }
  std::vector<std::vector<double>> shared;
  for (const GroupTimes& group : groups) {
    auto& times = shared.emplace_back();
    for (std::size_t i = 0; i < group.time_us.size(); ++i) {
      const double middle = group.start_us[i] + group.time_us[i] / 2;
      if (middle >= begin_us && middle <= end_us) times.push_back(group.time_us[i]);
    }
    if (times.empty()) times = group.time_us;
  }
  return shared;
}

MixSlowdown slowdown_of(std::span<const double> alone, std::span<const double> together) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < alone.size(); ++i) ratios.push_back(together[i] / alone[i]);
  std::ranges::sort(ratios);
  const stats::RankPair ranks = stats::median_ranks(ratios.size()).value();
  return {.factor = stats::median(ratios),
          .low = ratios[ranks.low - 1],
          .high = ratios[ranks.high - 1]};
}

}  // namespace busbar
