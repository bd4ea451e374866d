// SPDX-License-Identifier: BSD-3-Clause
// How often `busbar compare` calls rows of one command faster or slower (A/A), and how often it
// finds a difference that is there, on the launches of tests/fixtures/compare-launches.csv.
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "tests/unit/support/recorded_launches.hpp"

namespace busbar {
namespace {

constexpr std::size_t kPairs = 200;
constexpr double kMostWrong = 0.05;
constexpr double kLeastFound = 0.8;
constexpr double kThreshold = study::kThresholdPercent / 100;

/// False where more rows have a verdict than may.
bool print_same(const test::Launches& launches, const char* words, test::Grouping groups_of,
                std::size_t pairs) {
  bool holds = true;
  fmt::print("A/A, {} pairs, {}: rows called faster or slower\n", pairs, words);
  for (const std::size_t each : {1U, 2U, 4U, 8U}) {
    const test::VerdictRates rates =
        test::verdict_rates(launches, each, pairs, groups_of, 1, kThreshold);
    const double share = rates.faster + rates.slower;
    fmt::print("  {} of each: {:5.1f} % (at most 5 %)\n", each, share * 100);
    holds = holds && share <= kMostWrong;
  }
  return holds;
}

bool print_found(const test::Launches& launches) {
  constexpr double kSlower = 1.05;
  bool holds = true;
  fmt::print("5 % slower, 8 launches of each: rows called slower\n");
  for (const double noise : {0.01, 0.02, 0.03}) {
    const double found = test::verdict_rates(test::with_noise(launches, noise), 8, kPairs,
                                             test::drawn_at_random, kSlower, kThreshold)
                             .slower;
    const bool bounded = noise < 0.015;
    fmt::print("  noise between launches {:g} %: {:5.1f} %{}\n", noise * 100, found * 100,
               bounded ? " (at least 80 %)" : "");
    holds = holds && (!bounded || found >= kLeastFound);
  }
  return holds;
}

int run() {
  const test::Launches launches = test::recorded_launches();
  const bool random =
      print_same(launches, "launches drawn at random", test::drawn_at_random, kPairs);
  const bool turns =
      print_same(launches, "successive launches in turns", test::in_turns, launches.size());
  return print_found(launches) && random && turns ? 0 : 1;
}

}  // namespace
}  // namespace busbar

int main() {
  try {
    return busbar::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_rates: {}\n", error.what());
    return 1;
  }
}
