// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

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

  [[nodiscard]] Acceptance judged() const {
    return judge_all({.specification = specification,
                      .observations = observations,
                      .baseline = baseline,
                      .today = today,
                      .nodes = nodes,
                      .assumed = assumed});
  }

  [[nodiscard]] CheckResult first() const { return judged().verdicts.at(0); }

 private:
  static std::string name_of(const std::vector<std::string>& on) {
    std::string words;
    for (const std::string& node : on) words += (words.empty() ? "" : "+") + node;
    return words;
  }
};

}  // namespace busbar::judge
