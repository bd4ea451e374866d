// SPDX-License-Identifier: BSD-3-Clause
// Every statistic against numbers of SciPy and R, or of a second implementation, on random samples
// with ties: tests/fixtures/stats/make-references has written them and says which are whose.
#include <cmath>
#include <fstream>

#include "stats/autocorrelation.hpp"
#include "stats/histogram.hpp"
#include "stats/rank_tests.hpp"
#include "stats/stop_rule.hpp"
#include "stats/summary.hpp"

namespace busbar::stats {
namespace {

using Values = std::vector<double>;

/// A row of the reference file with the samples that it names.
struct Known {
  std::string names{};
  Values first{};
  Values second{};
  Values parameters{};
  Values expected{};
};

Values numbers(const std::string& cell) {
  std::istringstream words(cell);
  Values all;
  for (std::string word; words >> word;) all.push_back(std::stod(word));
  return all;
}

std::map<std::string, std::vector<Known>> read_references() {
  std::ifstream file("tests/fixtures/stats/references.csv");
  std::map<std::string, std::vector<Known>> cases;
  std::map<std::string, Values> series;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    const Values expected = numbers(cells.at(4));
    if (cells[0] == "series") {
      series[cells[1]] = expected;
    } else {
      cases[cells[0]].push_back({.names = cells[1] + ' ' + cells[2] + " (" + cells[3] + ')',
                                 .first = series[cells[1]],
                                 .second = series[cells[2]],
                                 .parameters = numbers(cells[3]),
                                 .expected = expected});
    }
  }
  return cases;
}

const std::vector<Known>& references(const std::string& statistic) {
  static const auto kCases = read_references();
  return kCases.at(statistic);
}

std::size_t count_of(double number) { return static_cast<std::size_t>(number); }

Values summary_of(const Known& of) {
  const auto all = summarize(of.first);
  return {static_cast<double>(all->count),
          all->mean,
          all->min,
          all->median,
          all->p90,
          all->p99,
          all->max,
          all->deviation};
}

Values median_ranks_of(const Known& of) {
  const auto ranks = median_ranks(count_of(of.parameters[0]), of.parameters[1], of.parameters[2]);
  if (!ranks) return {};
  return {static_cast<double>(ranks->low), static_cast<double>(ranks->high)};
}

Values median_interval_of(const Known& of) {
  const auto interval = median_interval(of.first);
  if (!interval) return {};
  return {interval->low, interval->high, interval->half_width, interval->iact};
}

Values shift_interval_of(const Known& of) {
  const auto interval = shift_interval(of.first, of.second);
  if (!interval) return {};
  return {interval->low, interval->high};
}

Values histogram_of(const Known& of) {
  const Histogram histogram = log_histogram(of.first);
  Values all = histogram.edges;
  all.insert(all.end(), histogram.share.begin(), histogram.share.end());
  all.push_back(static_cast<double>(histogram.beyond));
  return all;
}

Values density_of(const Known& of) {
  const Histogram histogram = log_histogram(of.first);
  Values all;
  for (std::size_t bin = 0; bin < histogram.share.size(); ++bin) {
    all.push_back(histogram.density(bin));
  }
  return all;
}

/// Samples in chunks until the rule stops: why, after how many, and how many it wanted each time.
Values stop_rule_of(const Known& of) {
  const Values& p = of.parameters;
  StopRule rule({.ci_width = p[0],
                 .min_samples = count_of(p[1]),
                 .max_samples = count_of(p[2]),
                 .time_budget_s = p[3]});
  Values untils;
  std::size_t count = 0;
  StopReason reason = StopReason::None;
  while (reason == StopReason::None && count < of.first.size()) {
    const std::size_t until = rule.until_next_look(count);
    untils.push_back(static_cast<double>(until));
    count = std::min(count + std::min(until, count_of(p[5])), of.first.size());
    const double elapsed_s = static_cast<double>(count) * p[4];
    reason = rule.decide(std::span(of.first).first(count), elapsed_s);
  }
  untils.insert(untils.begin(), {static_cast<double>(reason), static_cast<double>(count)});
  return untils;
}

struct Statistic {
  const char* name;
  Values (*of)(const Known& of);
};

void PrintTo(const Statistic& statistic, std::ostream* out) { *out << statistic.name; }

class Reference : public testing::TestWithParam<Statistic> {};

TEST_P(Reference, IsWhatTheStatisticGives) {
  const std::vector<Known>& cases = references(GetParam().name);
  ASSERT_FALSE(cases.empty());
  for (const Known& of : cases) {
    const Values got = GetParam().of(of);
    ASSERT_EQ(got.size(), of.expected.size()) << of.names;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], of.expected[i], 1e-9 * std::max(1.0, std::abs(of.expected[i])))
          << of.names << " number " << i;
    }
  }
}

constexpr Statistic kStatistics[] = {
    {"median", [](const Known& of) { return Values{median(of.first)}; }},
    {"percentile",
     [](const Known& of) { return Values{percentile(of.first, of.parameters.at(0))}; }},
    {"summary", summary_of},
    {"centered_ranks", [](const Known& of) { return centered_ranks(of.first); }},
    {"autocorrelation_time",
     [](const Known& of) { return Values{integrated_autocorrelation_time(of.first)}; }},
    {"median_ranks", median_ranks_of},
    {"median_interval", median_interval_of},
    {"is_steady",
     [](const Known& of) {
       return Values{is_steady(of.first, of.second, of.parameters.at(0)) ? 1.0 : 0.0};
     }},
    {"is_drifting", [](const Known& of) { return Values{is_drifting(of.first) ? 1.0 : 0.0}; }},
    {"stop_rule", stop_rule_of},
    {"mann_whitney", [](const Known& of) { return Values{mann_whitney_p(of.first, of.second)}; }},
    {"least_p",
     [](const Known& of) {
       return Values{least_p(count_of(of.parameters[0]), count_of(of.parameters[1]))};
     }},
    {"fewest_for",
     [](const Known& of) { return Values{static_cast<double>(fewest_for(of.parameters[0]))}; }},
    {"shift_interval", shift_interval_of},
    {"histogram", histogram_of},
    {"density", density_of}};

INSTANTIATE_TEST_SUITE_P(Of, Reference, testing::ValuesIn(kStatistics),
                         [](const auto& statistic) { return statistic.param.name; });

}  // namespace
}  // namespace busbar::stats
