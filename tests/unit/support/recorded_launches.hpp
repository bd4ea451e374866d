// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <random>

#include "study/compare/comparison.hpp"

/// How often a comparison is wrong or finds what is there, on launches that were recorded.
namespace busbar::test {

using Launches = std::vector<study::Launch>;

/// The launches of tests/fixtures/compare-launches.csv, in the order in which they ran.
inline Launches recorded_launches() {
  std::ifstream file("tests/fixtures/compare-launches.csv");
  Launches launches;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = split(line, ',');
    if (line.starts_with('#') || cells.front() == "launch") continue;
    const std::size_t number = std::stoul(cells.at(0));
    if (number > launches.size()) launches.emplace_back();
    study::LaunchRow row{.time_us = std::stod(cells.at(2))};
    if (!cells.at(3).empty()) row.ci_low_us = std::stod(cells.at(3));
    if (!cells.at(4).empty()) row.ci_high_us = std::stod(cells.at(4));
    launches.back().rows[{.collective = "allreduce", .ranks = 2, .size = std::stoul(cells.at(1))}] =
        row;
  }
  return launches;
}

/// The same launches, with the logarithms of each row's times scaled to a standard deviation.
inline Launches with_noise(Launches launches, double deviation) {
  const auto rows = launches.front().rows;
  for (const auto& [key, row] : rows) {
    double sum = 0;
    double squares = 0;
    for (study::Launch& launch : launches) {
      const double value = std::log(launch.rows.at(key).time_us);
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(launches.size());
    const double mean = sum / count;
    const double spread = std::sqrt(squares / count - mean * mean);
    for (study::Launch& launch : launches) {
      double& time = launch.rows.at(key).time_us;
      time = std::exp((std::log(time) - mean) / spread * deviation);
    }
  }
  return launches;
}

/// How two groups of `each` launches are made of the recorded ones: number `pair` of them.
using Grouping = std::pair<Launches, Launches> (*)(const Launches& launches, std::size_t each,
                                                   std::size_t pair);

/// Drawn at random, none twice; the same pair has the same launches always.
inline std::pair<Launches, Launches> drawn_at_random(const Launches& launches, std::size_t each,
                                                     std::size_t pair) {
  std::mt19937 random(static_cast<unsigned>(pair + 1));
  Launches deck = launches;
  for (std::size_t i = 0; i < 2 * each; ++i) {
    std::swap(deck[i], deck[i + random() % (deck.size() - i)]);
  }
  const auto middle = deck.begin() + static_cast<std::ptrdiff_t>(each);
  return {{deck.begin(), middle}, {middle, middle + static_cast<std::ptrdiff_t>(each)}};
}

/// Successive launches, taken in turns, from number `pair` on.
inline std::pair<Launches, Launches> in_turns(const Launches& launches, std::size_t each,
                                              std::size_t pair) {
  std::pair<Launches, Launches> groups;
  for (std::size_t i = 0; i < 2 * each; ++i) {
    Launches& group = i % 2 == 0 ? groups.first : groups.second;
    group.push_back(launches[(pair + i) % launches.size()]);
  }
  return groups;
}

/// Shares of rows that `pairs` comparisons call slower and faster, where the second group is
/// `factor` times as slow as it was recorded.
struct VerdictRates {
  double slower = 0;
  double faster = 0;
};
inline VerdictRates verdict_rates(const Launches& launches, std::size_t each, std::size_t pairs,
                                  Grouping groups_of, double factor, double threshold) {
  std::size_t rows = 0;
  std::size_t slower = 0;
  std::size_t faster = 0;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    auto [before, after] = groups_of(launches, each, pair);
    for (study::Launch& launch : after) {
      for (auto& [key, row] : launch.rows) row.time_us *= factor;
    }
    const study::GroupComparison comparison = study::compare_launches(before, after, threshold);
    rows += comparison.rows.size();
    slower += comparison.count(study::Verdict::Slower);
    faster += comparison.count(study::Verdict::Faster);
  }
  return {.slower = static_cast<double>(slower) / static_cast<double>(rows),
          .faster = static_cast<double>(faster) / static_cast<double>(rows)};
}

}  // namespace busbar::test
