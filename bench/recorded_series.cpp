// SPDX-License-Identifier: BSD-3-Clause
//
// Holds our statistics against recorded times of real machines. Rows are taken from each series, in
// one stretch or in visits, and their intervals compared with the median of the whole series; with
// --verdicts pieces of a series, which nothing distinguishes, are judged as launches and as nodes;
// with --factors the scatter of launches is printed for busbar accept rehearse --noise;
// with --changes events are looked for in each series and in generated runs in which nothing
// happens, and the costs of a sample of a long run are shown.
#include "tests/unit/support/recorded_series.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/options.hpp"
#include "judge/fleet/fleet.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/stop_rule.hpp"
#include "stats/time_histogram.hpp"
#include "tests/unit/stats/healthy_runs.hpp"
#include "tests/unit/stats/series.hpp"
#include "tests/unit/support/recorded_launches.hpp"

namespace busbar {
namespace {

using AllSeries = std::vector<test::RecordedSeries>;

constexpr int kRowsOfSeries = 20;

void print(const std::string& system, const test::Taking& taking, const test::RowRates& rates) {
  fmt::print(
      "{}: visits {} rows {} coverage {:.3f} error_p50 {:.4f} error_p95 {:.4f} half_width_p50 "
      "{:.4f} "
      "half_width_p90 {:.4f} samples {:.0f} withheld {:.3f}\n",
      system, taking.visits, rates.rows(), rates.coverage(), rates.error(50), rates.error(95),
      rates.half_width(50), rates.half_width(90), rates.samples(), rates.withheld());
}

/// The coverage of intervals.
void measure_rows(const AllSeries& all_series, const test::Taking& taking) {
  std::map<std::string, test::RowRates> systems;
  test::RowRates all;
  std::mt19937_64 random = stats::test::fixed_random(1);
  for (const test::RecordedSeries& series : all_series) {
    const double median = stats::median(series.times);
    for (int row = 0; row < kRowsOfSeries; ++row) {
      const auto visits = test::take_visits(series.times, taking, random);
      systems[series.system].add(visits, median);
      all.add(visits, median);
    }
  }
  for (const auto& [system, rates] : systems) print(system, taking, rates);
  print("all", taking, all);
}

/// How many rows count as drifting.
double share_of_drifting(const AllSeries& all_series, std::size_t visits) {
  double drifting = 0;
  std::mt19937_64 random = stats::test::fixed_random(1);
  for (const test::RecordedSeries& series : all_series) {
    for (int row = 0; row < kRowsOfSeries; ++row) {
      const auto taken = test::take_visits(series.times, {.visits = visits}, random);
      if (stats::is_drifting(stats::all_samples(taken))) drifting += 1;
    }
  }
  return drifting / static_cast<double>(all_series.size()) / kRowsOfSeries;
}

/// How many rows are flagged as not steady: no two successive windows of a warm-up agree.
double share_of_unsteady(const AllSeries& all_series) {
  constexpr std::size_t kWindow = 5;
  constexpr std::size_t kMostWindows = 10;
  double unsteady = 0;
  std::mt19937_64 random = stats::test::fixed_random(1);
  for (const test::RecordedSeries& series : all_series) {
    const std::span<const double> times(series.times);
    for (int row = 0; row < kRowsOfSeries; ++row) {
      const std::size_t place = random() % (times.size() - kWindow * kMostWindows + 1);
      bool steady = false;
      for (std::size_t window = 1; window < kMostWindows && !steady; ++window) {
        const auto current = times.subspan(place + window * kWindow, kWindow);
        steady = stats::is_steady(times.subspan(place + (window - 1) * kWindow, kWindow), current);
      }
      if (!steady) unsteady += 1;
    }
  }
  return unsteady / static_cast<double>(all_series.size()) / kRowsOfSeries;
}

/// The medians of pieces that lie at equal distances in a series.
std::vector<double> medians_of_pieces(const std::vector<double>& times, std::size_t pieces,
                                      std::size_t samples) {
  std::vector<double> medians;
  const std::size_t part = times.size() / pieces;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(piece * part);
    const auto count = static_cast<std::ptrdiff_t>(std::min(part, samples));
    medians.push_back(stats::median(std::vector<double>(first, first + count)));
  }
  return medians;
}

/// The first launches before the last ones, instead of in turns.
std::pair<test::Launches, test::Launches> one_half_first(const test::Launches& launches,
                                                         std::size_t each, std::size_t /*pair*/) {
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>(each);
  return {{launches.begin(), middle}, {middle, middle + static_cast<std::ptrdiff_t>(each)}};
}

/// How often `busbar compare` calls pieces of one series faster or slower.
double share_of_verdicts(const AllSeries& all_series, std::size_t each, std::size_t samples,
                         test::Grouping groups_of) {
  double verdicts = 0;
  for (const test::RecordedSeries& series : all_series) {
    test::Launches launches;
    for (const double median : medians_of_pieces(series.times, 2 * each, samples)) {
      launches.emplace_back().rows[{.collective = "allreduce"}] = {.time_us = median};
    }
    const auto rates =
        test::verdict_rates(launches, each, 1, groups_of, 1, study::kThresholdPercent / 100);
    verdicts += rates.slower + rates.faster;
  }
  return verdicts / static_cast<double>(all_series.size());
}

/// How often pieces of one series are launches that scatter more than the noise gate lets pass.
double share_of_noisy(const AllSeries& all_series, std::size_t samples, double max_cv) {
  constexpr std::size_t kLaunches = 5;
  double noisy = 0;
  for (const test::RecordedSeries& series : all_series) {
    const auto summary = stats::summarize(medians_of_pieces(series.times, kLaunches, samples));
    if (summary->deviation / summary->mean > max_cv) noisy += 1;
  }
  return noisy / static_cast<double>(all_series.size());
}

/// What results/expect's rule for nodes comes to on 16 nodes of which each launch is a piece of one
/// series: shares of fleets with a node below the rule, and of those where its launches also
/// scatter too little for the noise gate to withhold the verdict.
struct FleetRates {
  double low = 0;
  double failed = 0;
};

FleetRates rates_of_fleets(const AllSeries& all_series, std::size_t launches, std::size_t samples) {
  const judge::Rule rule{.bounds = {.fail_below = 0.95}, .min_robust_z = 6, .max_fleet_mad = 0.02};
  constexpr std::size_t kNodes = 16;
  constexpr double kMostScatter = 0.02;
  std::mt19937_64 random = stats::test::fixed_random(1);
  FleetRates fleets;
  for (const test::RecordedSeries& series : all_series) {
    std::vector<double> rates;
    std::vector<bool> noisy;
    for (std::size_t node = 0; node < kNodes; ++node) {
      std::vector<double> medians;
      for (std::size_t launch = 0; launch < launches; ++launch) {
        const std::size_t place = random() % (series.times.size() - samples + 1);
        medians.push_back(stats::median(std::span(series.times).subspan(place, samples)));
      }
      rates.push_back(1 / stats::median(medians));
      const auto summary = stats::summarize(medians);
      noisy.push_back(summary->deviation / summary->mean > kMostScatter);
    }
    const std::vector<bool> low = judge::judge_members(rates, rule).low;
    bool failed = false;
    for (std::size_t node = 0; node < kNodes; ++node) {
      failed = failed || (low[node] && !noisy[node]);
    }
    if (std::ranges::count(low, true) > 0) fleets.low += 1;
    if (failed) fleets.failed += 1;
  }
  const auto count = static_cast<double>(all_series.size());
  return {.low = fleets.low / count, .failed = fleets.failed / count};
}

void measure_verdicts(const AllSeries& all_series) {
  fmt::print("drifting: {:.3f} of rows in one stretch, {:.3f} in 6 visits\n",
             share_of_drifting(all_series, 1), share_of_drifting(all_series, 6));
  fmt::print("not steady after warm-up: {:.3f} of rows\n", share_of_unsteady(all_series));
  for (const std::size_t samples : {12U, 50U}) {
    fmt::print("pieces of {} samples as launches or nodes:\n", samples);
    for (const std::size_t each : {4U, 8U}) {
      fmt::print("  compare, {} and {}: {:.3f} in turns, {:.3f} one half before the other\n", each,
                 each, share_of_verdicts(all_series, each, samples, test::in_turns),
                 share_of_verdicts(all_series, each, samples, one_half_first));
    }
    fmt::print("  noise gate of 5 %, 5 launches: {:.3f} inconclusive; of 2 %: {:.3f}\n",
               share_of_noisy(all_series, samples, 0.05),
               share_of_noisy(all_series, samples, 0.02));
    for (const std::size_t launches : {1U, 3U, 5U}) {
      const FleetRates fleets = rates_of_fleets(all_series, launches, samples);
      fmt::print(
          "  fleets of 16 nodes, {} launches: {:.3f} with a low node, {:.3f} with a failed one\n",
          launches, fleets.low, fleets.failed);
    }
  }
}

void print(const std::string& name, const stats::test::EventCounts& counts) {
  fmt::print("{}: {} runs, with level {} drift {} dip {}\n", name, counts.runs, counts.level,
             counts.drift, counts.dip);
}

/// The cost of a sample, beside that of keeping it in a list that is sorted at the end.
void measure_histogram(std::size_t samples) {
  std::mt19937_64 random = stats::test::fixed_random(1);
  std::lognormal_distribution<double> times(3, 0.3);
  std::vector<double> some(std::size_t{1} << 20);
  for (double& each : some) each = times(random);
  const auto per_sample = [&](Clock::time_point start, std::size_t count) {
    return 1e3 * microseconds(Clock::now() - start) / static_cast<double>(count);
  };
  stats::TimeHistogram histogram;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < samples; ++i) histogram.add(some[i % some.size()]);
  const double adding_ns = per_sample(start, samples);
  const Clock::time_point sorting = Clock::now();
  std::vector<double> sorted = some;
  std::ranges::sort(sorted);
  const double sorting_ns = per_sample(sorting, sorted.size());
  double error = 0;
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(some.size())));
    error = std::max(error, std::abs(histogram.quantile(share) / sorted[rank - 1] - 1));
  }
  fmt::print(
      "histogram: {} samples, {:.2f} ns each, {:.3f} of a list that is sorted; {} bytes, largest "
      "error of a quantile {:.5f} of {:.5f}\n",
      histogram.count(), adding_ns, adding_ns / sorting_ns, stats::TimeHistogram::kBytes, error,
      stats::TimeHistogram::kRelativeError);
}

void measure_changes(const AllSeries& all_series) {
  stats::test::EventCounts recorded;
  for (const auto& run : stats::test::intervals_of(all_series)) recorded.add(run);
  print("recorded", recorded);
  print("generated, 300 intervals", stats::test::count_healthy(1800, 300));
  print("generated, 2000 intervals", stats::test::count_healthy(180, 2000));
  measure_histogram(100'000'000);
}

/// The rates of launches as shares of their series', a line each: of large messages the median of
/// 20 operations after each other, as many of each series.
void print_factors(const AllSeries& all_series) {
  constexpr double kFewestBytes = 256 * 1024;
  constexpr std::size_t kOperations = 20;
  constexpr std::size_t kEach = 200;
  std::size_t count = 0;
  std::string lines;
  for (const auto& series : all_series) {
    if (series.bytes < kFewestBytes || series.times.size() < kOperations) continue;
    ++count;
    const std::span<const double> times(series.times);
    const double middle = stats::median(times);
    for (std::size_t i = 0; i < kEach; ++i) {
      const std::size_t place = i * (times.size() - kOperations) / (kEach - 1);
      lines += fmt::format("{:.5f}\n", middle / stats::median(times.subspan(place, kOperations)));
    }
  }
  fmt::print("# factors of {} recorded series\n{}", count, lines);
}

struct Options {
  bool changes = false;
  bool factors = false;
  test::Taking taking;
  bool verdicts = false;
};
constexpr auto kOptions = std::to_array<Option<Options>>({
    {"--visits", "N",
     [](Options& o, std::string_view n, std::string_view v) {
       o.taking.visits = static_cast<std::size_t>(parse_integer(n, v, 1, 100));
     }},
    {"--samples", "S",
     [](Options& o, std::string_view n, std::string_view v) {
       o.taking.samples = static_cast<std::size_t>(parse_integer(n, v, 1, 10000));
     }},
    {"--verdicts", "", set::value<&Options::verdicts>},
    {"--changes", "", set::value<&Options::changes>},
    {"--factors", "", set::value<&Options::factors>},
});

int run(std::span<char* const> arguments) {
  Options options;
  const Arguments given = parse_options<Options>({{}, kOptions}, arguments, options);
  if (given.positionals.size() != 1) {
    throw usage_error(
        "expected FOLDER [--visits N] [--samples S], or FOLDER and --verdicts, --changes or "
        "--factors");
  }
  const auto all_series = test::recorded_series(given.positionals.front());
  if (options.factors) {
    print_factors(all_series);
  } else if (options.changes) {
    measure_changes(all_series);
  } else {
    options.verdicts ? measure_verdicts(all_series) : measure_rows(all_series, options.taking);
  }
  return exit_code(Status::Ok);
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  try {
    return busbar::run({argv + 1, argv + argc});
  } catch (const busbar::Error& error) {
    fmt::print(stderr, "recorded_series: {}\n", error.what());
    return busbar::exit_code(error.status());
  }
}
