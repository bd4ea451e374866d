// SPDX-License-Identifier: BSD-3-Clause
//
// Holds our statistics against recorded times of real machines: rows are taken from each series, in
// one stretch or in visits, and their intervals compared with the median of the whole series.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/options.hpp"
#include "tests/unit/support/recorded_series.hpp"

namespace busbar {
namespace {

constexpr int kRowsOfSeries = 20;

void print(const std::string& system, const test::Taking& taking, const test::RowRates& rates) {
  fmt::print(
      "{}: visits {} rows {} coverage {:.3f} withheld {:.3f} error_p50 {:.4f} error_p95 {:.4f} "
      "half_width_p50 {:.4f} half_width_p90 {:.4f} samples {:.0f}\n",
      system, taking.visits, rates.rows(), rates.coverage(), rates.withheld(), rates.error(50),
      rates.error(95), rates.half_width(50), rates.half_width(90), rates.samples());
}

void measure(const std::string& folder, const test::Taking& taking) {
  std::map<std::string, test::RowRates> systems;
  test::RowRates all;
  std::mt19937_64 random(1);
  for (const test::RecordedSeries& series : test::recorded_series(folder)) {
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

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  using namespace busbar;
  struct Options {
    test::Taking taking;
  };
  static constexpr auto kOptions = std::to_array<Option<Options>>({
      {"--visits", "N",
       [](Options& o, std::string_view n, std::string_view v) {
         o.taking.visits = static_cast<std::size_t>(parse_integer(n, v, 1, 100));
       }},
      {"--samples", "S",
       [](Options& o, std::string_view n, std::string_view v) {
         o.taking.samples = static_cast<std::size_t>(parse_integer(n, v, 1, 10000));
       }},
  });
  try {
    Options options;
    const Arguments given = parse_options<Options>({{}, kOptions}, {argv + 1, argv + argc}, options);
    if (given.positionals.size() != 1) throw usage_error("recorded_series FOLDER [--visits N] [--samples S]");
    measure(given.positionals.front(), options.taking);
  } catch (const Error& error) {
    fmt::print(stderr, "recorded_series: {}\n", error.what());
    return exit_code(error.status());
  }
  return 0;
}
