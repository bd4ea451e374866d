// SPDX-License-Identifier: BSD-3-Clause
#include "stats/level_changes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/lists.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"

namespace busbar::stats {
namespace {

constexpr double kLeastLevel = 0.03;  // in logarithms, as all changes here
constexpr std::size_t kFewestValues = 60;

using Logs = std::span<const double>;
using Places = std::vector<std::size_t>;

std::vector<double> logarithms(std::span<const double> times) {
  return mapped(times, [](double time) { return std::log(time); });
}

// ---- Wilcoxon scan ------------------------------------------------------------------------------

/// The sum of autocorrelations, 1 + 2 sum rho, up to five times itself (Sokal's window), times the
/// variance.
struct LongRun {
  double variance = 0;
  double time = 1;
};

LongRun long_run(std::span<const double> centered) {
  const auto product = [&](std::size_t lag) {
    const auto shift = static_cast<std::ptrdiff_t>(lag);
    return std::transform_reduce(centered.begin(), centered.end() - shift, centered.begin() + shift,
                                 0.0);
  };
  constexpr double kWindow = 5;
  const double squares = product(0);
  if (squares <= 0) return {};
  double time = 1;
  for (std::size_t lag = 1; lag < centered.size(); ++lag) {
    if (static_cast<double>(lag) > kWindow * std::max(1.0, time)) break;
    time += 2 * product(lag) / squares;
  }
  return {.variance = squares / static_cast<double>(centered.size()), .time = std::max(1.0, time)};
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
  const LongRun rest = long_run(ranks);
  best.time = rest.time;
  best.score =
      most / std::sqrt(std::max(1e-9, static_cast<double>(count) * rest.variance * rest.time));
  return best;
}

/// Splits pieces while a split scores above 3; the autocorrelation time of the whole.
double scan(Logs logs, std::size_t first, int depth, Places& places) {
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

std::vector<double> level_medians(Logs logs, const Places& places) {
  std::vector<double> medians;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    const std::size_t last = i < places.size() ? places[i] : logs.size();
    medians.push_back(median(logs.subspan(first, last - first)));
    first = last;
  }
  return medians;
}

/// Removes changes that are less than `least`, the smallest first.
void prune(Logs logs, double least, Places& places) {
  while (!places.empty()) {
    const std::vector<double> medians = level_medians(logs, places);
    std::vector<double> steps;
    for (std::size_t i = 0; i < places.size(); ++i) {
      steps.push_back(std::abs(medians[i + 1] - medians[i]));
    }
    const auto smallest = std::ranges::min_element(steps);
    if (*smallest >= least) return;
    places.erase(places.begin() + (smallest - steps.begin()));
  }
}

// ---- moving windows -----------------------------------------------------------------------------

struct Windows {
  double least = kLeastLevel;  ///< change, in logarithms
  double scores = 5;           ///< scales of the differences' own variation
  std::size_t before = 30;
  std::size_t after = 20;
  std::size_t settled = 30;  ///< values before the first change
};
constexpr std::size_t kReach = 30;

/// What the windows saw: differences from place `before` on, and the least that counts.
struct MovingDifferences {
  std::vector<double> differences{};
  std::size_t first = 0;
  double threshold = 0;
};

MovingDifferences differences_of(Logs logs, const Windows& windows) {
  MovingDifferences seen{.first = windows.before, .threshold = windows.least};
  for (std::size_t t = windows.before; t + windows.after <= logs.size(); ++t) {
    seen.differences.push_back(median(logs.subspan(t, windows.after)) -
                               median(logs.subspan(t - windows.before, windows.before)));
  }
  if (seen.differences.empty()) return seen;
  const auto sizes = mapped(seen.differences, [](double each) { return std::abs(each); });
  seen.threshold = std::max(windows.least, windows.scores * kMadScale * median(sizes));
  return seen;
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

/// Adds the changes that the windows saw and that are far from any of the places.
void add_moving_changes(Logs logs, const Windows& windows, const MovingDifferences& seen,
                        Places& places) {
  constexpr std::size_t kApart = 20;
  const auto& differences = seen.differences;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (std::abs(differences[i]) <= seen.threshold) continue;
    const double sign = differences[i] > 0 ? 1 : -1;
    const auto from = differences.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(kReach, differences.size() - i));
    const auto peak = std::ranges::max_element(from, to, {}, [=](double d) { return sign * d; });
    const auto at_peak = static_cast<std::size_t>(peak - differences.begin());
    const std::size_t at = place_near(logs, seen.first + at_peak);
    const bool is_known = std::ranges::any_of(places, [&](std::size_t other) {
      return (other > at ? other - at : at - other) <= kApart;
    });
    if (at >= windows.settled && !is_known && lasts(logs, at, sign, seen.threshold))
      places.push_back(at);
    i = at_peak + windows.after;
  }
  std::ranges::sort(places);
  prune(logs, windows.least, places);
}

/// Of a run that is too short: the least change that 60 such values could show, from their scatter
/// about their median; the difference of two medians of n and m normal values has a standard
/// deviation of 1.2533 sqrt(1/n + 1/m).
LevelScan too_short(Logs logs, const Windows& windows) {
  constexpr double kMedianError = 1.2533;
  if (logs.empty()) return {.least = std::expm1(windows.least), .needed = kFewestValues};
  const double scatter = kMadScale * distance_from_median(logs) / static_cast<double>(logs.size());
  const double error =
      kMedianError * scatter *
      std::sqrt(1 / static_cast<double>(windows.before) + 1 / static_cast<double>(windows.after));
  return {.least = std::expm1(std::max(windows.least, windows.scores * error)),
          .needed = kFewestValues};
}

LevelScan result_of(Logs logs, const Places& places, double least, std::size_t needed) {
  LevelScan result{.least = std::expm1(least), .needed = needed};
  const std::vector<double> medians = level_medians(logs, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result.changes.push_back(
        {.at = places[i], .before = std::exp(medians[i]), .after = std::exp(medians[i + 1])});
  }
  return result;
}

}  // namespace

LevelScan find_level_changes(std::span<const double> times) {
  constexpr double kTimesOfCorrelation = 12;  // with fewer no split can score 3
  const Windows windows;
  const std::vector<double> logs = logarithms(times);
  if (logs.size() < kFewestValues) return too_short(logs, windows);
  const MovingDifferences seen = differences_of(logs, windows);
  Places places;
  const double time = scan(logs, 0, 1, places);
  prune(logs, windows.least, places);
  add_moving_changes(logs, windows, seen, places);
  const auto enough = static_cast<std::size_t>(std::ceil(kTimesOfCorrelation * time));
  const bool judged = !places.empty() || logs.size() >= enough;
  return result_of(logs, places, seen.threshold, judged ? 0 : enough);
}

LevelScan find_tail_changes(std::span<const double> times) {
  const Windows windows{.least = std::log(1.25), .scores = 4, .after = 10, .settled = 60};
  const std::vector<double> logs = logarithms(times);
  if (logs.size() < kFewestValues) return too_short(logs, windows);
  const MovingDifferences seen = differences_of(logs, windows);
  Places places;
  add_moving_changes(logs, windows, seen, places);
  return result_of(logs, places, seen.threshold, 0);
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
