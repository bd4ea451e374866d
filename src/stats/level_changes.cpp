// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/lists.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"
#include "stats/timeline.hpp"

namespace busbar::stats {
namespace {

constexpr double kLeastLevel = 0.03;  // in logarithms, as all changes here
constexpr std::size_t kFewestValues = 60;

using Logs = std::span<const double>;
using ChangePlaces = std::vector<std::size_t>;

std::vector<double> logarithms(std::span<const double> times) {
  return mapped(times, [](double time) { return std::log(time); });
}

// ---- Wilcoxon scan ------------------------------------------------------------------------------

/// 1 + 2 sum of the autocorrelations, up to a lag of five times itself (Sokal's window).
double correlation_time(std::span<const double> centered) {
  constexpr double kWindow = 5;
  const auto product = [&](std::size_t lag) {
    return std::inner_product(centered.begin() + static_cast<std::ptrdiff_t>(lag), centered.end(),
                              centered.begin(), 0.0);
  };
  const double squares = product(0);
  double time = 1;
  for (std::size_t lag = 1; squares > 0 && lag < centered.size(); ++lag) {
    if (static_cast<double>(lag) > kWindow * std::max(1.0, time)) break;
    time += 2 * product(lag) / squares;
  }
  return std::max(1.0, time);
}

void center(std::span<double> values) {
  const double mean =
      std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
}

/// Where a piece splits best, and whether that is more than its own correlation explains.
struct RankSplit {
  std::size_t at = 0;
  double score = 0;  ///< standard deviations
  double time = 1;   ///< autocorrelation time of what the split leaves
};

RankSplit best_split(Logs logs) {
  constexpr std::size_t kEdge = 5;
  std::vector<double> ranks = centered_ranks(logs);
  const std::size_t count = ranks.size();
  RankSplit best;
  double most = 0;
  double sum = 0;
  for (std::size_t k = 1; k + kEdge <= count; ++k) {
    sum += ranks[k - 1];
    if (k < kEdge || std::abs(sum) <= most) continue;
    most = std::abs(sum);
    best.at = k;
  }
  if (best.at == 0) return best;
  center(std::span(ranks).first(best.at));
  center(std::span(ranks).subspan(best.at));
  best.time = correlation_time(ranks);
  const double squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
  best.score = most / std::sqrt(std::max(1e-9, squares * best.time));
  return best;
}

/// Splits pieces while a split scores above 3; the autocorrelation time of the whole.
double scan(Logs logs, std::size_t first, int depth, ChangePlaces& places) {
  constexpr std::size_t kShortest = 30;
  constexpr int kDeepest = 5;
  constexpr double kScore = 3;
  if (logs.size() < kShortest || depth > kDeepest) return 1;
  const RankSplit split = best_split(logs);
  if (split.score <= kScore) return split.time;
  scan(logs.first(split.at), first, depth + 1, places);
  places.push_back(first + split.at);
  scan(logs.subspan(split.at), first + split.at, depth + 1, places);
  return split.time;
}

std::vector<double> level_medians(Logs logs, const ChangePlaces& places) {
  std::vector<double> medians;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    const std::size_t last = i < places.size() ? places[i] : logs.size();
    medians.push_back(median(logs.subspan(first, last - first)));
    first = last;
  }
  return medians;
}

/// Removes changes that are less than kLeastLevel, the smallest first.
void prune(Logs logs, ChangePlaces& places) {
  while (!places.empty()) {
    const std::vector<double> medians = level_medians(logs, places);
    std::vector<double> steps;
    for (std::size_t i = 0; i < places.size(); ++i) {
      steps.push_back(std::abs(medians[i + 1] - medians[i]));
    }
    const auto smallest = std::ranges::min_element(steps);
    if (*smallest >= kLeastLevel) return;
    places.erase(places.begin() + (smallest - steps.begin()));
  }
}

// ---- moving windows -----------------------------------------------------------------------------

constexpr std::size_t kReach = 30;  // of the window before, and of the look behind a change
constexpr std::size_t kAfter = 20;  // of the window behind a change

/// Differences of the windows' medians, from place kReach on.
std::vector<double> differences_of(Logs logs) {
  std::vector<double> differences;
  for (std::size_t t = kReach; t + kAfter <= logs.size(); ++t) {
    differences.push_back(median(logs.subspan(t, kAfter)) -
                          median(logs.subspan(t - kReach, kReach)));
  }
  return differences;
}

double distance_from_median(Logs logs) {
  const double middle = median(logs);
  return std::transform_reduce(logs.begin(), logs.end(), 0.0, std::plus<>(),
                               [=](double each) { return std::abs(each - middle); });
}

/// Where two levels around a place fit best.
std::size_t place_near(Logs logs, std::size_t around) {
  constexpr std::size_t kSearch = 20;
  const std::size_t first = around - std::min(around, kReach);
  const std::size_t last = std::min(logs.size(), around + kReach);
  std::size_t best = around;
  double least = std::numeric_limits<double>::infinity();
  const std::size_t from = std::max(first + 1, around - std::min(around, kSearch));
  for (std::size_t at = from; at <= std::min(last - 1, around + kSearch); ++at) {
    const double cost = distance_from_median(logs.subspan(first, at - first)) +
                        distance_from_median(logs.subspan(at, last - at));
    if (cost >= least) continue;
    least = cost;
    best = at;
  }
  return best;
}

/// Whether the values behind a place still differ from those before it.
bool lasts(Logs logs, std::size_t at, double sign, double threshold) {
  constexpr std::size_t kFewestAfter = 10;
  constexpr double kOrdered = 0.9;
  const std::size_t after = std::min(logs.size() - at, kReach);
  if (after < kFewestAfter) return false;
  const Logs old = logs.subspan(at - kReach, kReach);
  const Logs fresh = logs.subspan(at, after);
  if (sign * (median(fresh) - median(old)) < threshold) return false;
  std::size_t ordered = 0;
  for (const double one : old) {
    ordered += count_of(fresh, [&](double other) { return sign * (other - one) > 0; });
  }
  return static_cast<double>(ordered) >= kOrdered * static_cast<double>(kReach * after);
}

/// The least change that the windows can see.
double least_seen(std::span<const double> differences) {
  constexpr double kScores = 5;  // scales of the differences' own variation
  const auto sizes = mapped(differences, [](double each) { return std::abs(each); });
  return std::max(kLeastLevel, kScores * kMadScale * median(sizes));
}

/// Adds the changes that the windows see and that are far from any of the places.
void add_moving_changes(Logs logs, ChangePlaces& places) {
  constexpr std::size_t kApart = 20;
  const std::vector<double> differences = differences_of(logs);
  const double threshold = least_seen(differences);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (std::abs(differences[i]) <= threshold) continue;
    const double sign = differences[i] > 0 ? 1 : -1;
    const auto next = std::span(differences).subspan(i, std::min(kReach, differences.size() - i));
    const auto peak = std::ranges::max_element(next, {}, [=](double d) { return sign * d; });
    i += static_cast<std::size_t>(peak - next.begin());
    const std::size_t at = place_near(logs, kReach + i);
    const bool is_known = std::ranges::any_of(places, [&](std::size_t other) {
      return std::max(at, other) - std::min(at, other) <= kApart;
    });
    const bool is_change = at >= kReach && !is_known && lasts(logs, at, sign, threshold);
    if (is_change) places.push_back(at);
    i += kAfter;
  }
  std::ranges::sort(places);
  prune(logs, places);
}

}  // namespace

LevelScan find_level_changes(std::span<const double> times) {
  constexpr double kTimesOfCorrelation = 12;  // with fewer no split can score 3
  std::vector<double> logs = logarithms(times);
  if (logs.size() < kFewestValues) return {.needed = kFewestValues};
  ChangePlaces places;
  const double time = scan(logs, 0, 1, places);
  prune(logs, places);
  add_moving_changes(logs, places);
  LevelScan result;
  const auto enough = static_cast<std::size_t>(std::ceil(kTimesOfCorrelation * time));
  if (places.empty() && logs.size() < enough) result.needed = enough;
  const std::vector<double> medians = level_medians(logs, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result.changes.push_back(
        {.at = places[i], .before = std::exp(medians[i]), .after = std::exp(medians[i + 1])});
    // What is left is the variation about the levels.
    for (std::size_t k = 0; k < places[i]; ++k) logs[k] += medians[i + 1] - medians[i];
  }
  result.least = std::expm1(least_seen(differences_of(logs)));
  return result;
}

Drift find_drift(std::span<const double> times) {
  constexpr std::size_t kBatches = 16;
  constexpr std::size_t kFewest = 128;
  constexpr double kSquares = 340;  // of 16 numbers about their mean
  constexpr double kScore = 8;
  constexpr double kSteps = kBatches - 1;
  if (times.size() < kFewest) return {.least = kLeastLevel, .needed = kFewest};
  const std::vector<double> logs = logarithms(times);
  std::vector<double> medians;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t first = i * logs.size() / kBatches;
    const std::size_t last = (i + 1) * logs.size() / kBatches;
    medians.push_back(median(Logs(logs).subspan(first, last - first)));
  }
  std::vector<double> slopes;
  for (std::size_t i = 0; i < kBatches; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      slopes.push_back((medians[i] - medians[k]) / static_cast<double>(i - k));
    }
  }
  const double slope = median(slopes);
  for (std::size_t i = 0; i < kBatches; ++i) medians[i] -= slope * static_cast<double>(i);
  center(medians);
  const double squares = std::inner_product(medians.begin(), medians.end(), medians.begin(), 0.0);
  const double error = std::sqrt(squares / (kBatches - 2) / kSquares);
  const double total = slope * kSteps;
  return {.found = std::abs(slope) > kScore * error && std::abs(total) >= kLeastLevel,
          .total = std::expm1(total),
          .least = std::max(kLeastLevel, std::expm1(kScore * error * kSteps))};
}

}  // namespace busbar::stats
