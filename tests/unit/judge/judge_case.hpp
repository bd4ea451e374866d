// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/judge.hpp"

namespace busbar::judge {

/// A specification with one rule, and launches by hand: what the tests of judging need.
struct JudgeCase {
  Specification specification{};
  std::vector<Observation> observations{};
  std::vector<std::string> nodes{};
  std::map<std::string, std::string> assumed{};
  const Baseline* baseline = nullptr;
  std::string today = "2026-11-21";

  /// 1 MiB of all-reduce, 450 GB/s, fails below 90 % and above 105 %; three launches, cv 5 %.
  explicit JudgeCase(SetKind kind = SetKind::PerNode) {
    specification.run.launches = 3;
    specification.run.min_launches = 3;
    specification.noise.max_cv = 0.05;
    specification.device_sets = {{.id = "set", .kind = kind, .ranks_per_node = 8}};
    specification.expectations = {{.id = "floor",
                                   .collectives = {"allreduce"},
                                   .device_set = "set",
                                   .sizes = {kMiB},
                                   .value = 450,
                                   .bounds = {.fail_below = 0.90, .fail_above = 1.05}}};
  }

  Expectation& rule() { return specification.expectations.front(); }

  /// A launch with one row of each size that the rule has.
  Observation& launch(const std::vector<std::string>& on, double busbw, int number = 0,
                      int attempt = 0) {
    Observation o{.device_set = "set",
                  .instance = name_of(on),
                  .nodes = on,
                  .launch = number,
                  .attempt = attempt,
                  .collective = "allreduce",
                  .file = "x.csv"};
    const int ranks = static_cast<int>(on.size()) * 8;
    for (const Bytes size : rule().sizes) {
      o.records.push_back({.collective = "allreduce",
                           .backend = "nccl",
                           .ranks = ranks,
                           .nodes = static_cast<int>(on.size()),
                           .type = "float",
                           .op = "sum",
                           .size = size,
                           .time_median_us = 100,
                           .time_p99_us = 125,
                           .algbw_GBps = busbw / 1.75,
                           .busbw_GBps = busbw,
                           .wrong = 0});
    }
    return observations.emplace_back(std::move(o));
  }

  /// Launches number 0, 1, ... with these values.
  void launches(const std::vector<std::string>& on, const std::vector<double>& values,
                int attempt = 0) {
    int number = 0;
    for (const double value : values) launch(on, value, number++, attempt);
  }

  /// Three equal launches.
  void steady(const std::vector<std::string>& on, double value) {
    launches(on, {value, value, value});
  }

  /// These launches of h1 in place of what there was.
  JudgeCase& measured(const std::vector<double>& values) {
    observations.clear();
    launches({"h1"}, values);
    return *this;
  }

  Record& row(std::size_t launch = 0, std::size_t number = 0) {
    return observations.at(launch).records.at(number);
  }

  /// Changes the first row of every launch.
  template <class Change>
  void each(const Change& change) {
    for (Observation& o : observations) change(o.records.at(0));
  }

  /// Compares with the other nodes, far beyond their scatter.
  void against_fleet(double fail_below = 0.9, double min_robust_z = 6) {
    rule().compare = Comparison::Fleet;
    rule().bounds = {.fail_below = fail_below};
    rule().min_robust_z = min_robust_z;
    rule().max_fleet_mad = 0.05;
  }

  /// Every pair of the nodes in three equal launches; `value` takes their numbers.
  template <class Value>
  void all_pairs(const Value& value) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t j = i + 1; j < nodes.size(); ++j) steady({nodes[i], nodes[j]}, value(i, j));
    }
  }

  [[nodiscard]] Acceptance judged() const {
    return judge_all({.specification = specification,
                      .observations = observations,
                      .baseline = baseline,
                      .today = today,
                      .nodes = nodes,
                      .assumed = assumed});
  }

  [[nodiscard]] CheckResult first() const { return judged().verdicts.at(0); }
  [[nodiscard]] Outcome overall() const { return judged().overall(); }

 private:
  static std::string name_of(const std::vector<std::string>& on) {
    std::string words;
    for (const std::string& node : on) words += (words.empty() ? "" : "+") + node;
    return words;
  }
};

/// `wanted` is the outcome, and behind a space the token of a reason if there is one.
inline void expect_result(const CheckResult& result, const std::string& wanted) {
  const std::string outcome = wanted.substr(0, wanted.find(' '));
  EXPECT_EQ(name(result.outcome), outcome) << result.reason;
  EXPECT_EQ(result.reason.empty(), outcome == wanted) << result.reason;
  if (outcome == wanted) return;
  EXPECT_THAT(result.reason, testing::HasSubstr(wanted.substr(outcome.size() + 1)));
}

/// h1 to h`count`.
inline std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> nodes;
  for (std::size_t i = 1; i <= count; ++i) nodes.push_back("h" + std::to_string(i));
  return nodes;
}

inline std::vector<std::vector<std::string>> nodes_of(const std::vector<Suspect>& suspects) {
  std::vector<std::vector<std::string>> nodes;
  for (const Suspect& suspect : suspects) nodes.push_back(suspect.nodes);
  return nodes;
}

/// The states in the order of the nodes: "good failed good good".
inline std::string states(const Acceptance& acceptance) {
  std::string text;
  for (const NodeAccount& account : acceptance.nodes) {
    text += (text.empty() ? "" : " ") + std::string(name(account.state));
  }
  return text;
}

}  // namespace busbar::judge
