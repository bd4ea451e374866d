// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>

#include "judge/judge.hpp"
#include "judge/run/journal.hpp"

namespace busbar::judge {

using Names = std::vector<std::string>;

/// h1 to h`count`.
inline Names names(std::size_t count) {
  Names nodes;
  for (std::size_t i = 1; i <= count; ++i) nodes.push_back("h" + std::to_string(i));
  return nodes;
}

/// A specification with one rule, and launches by hand: what the tests of judging need.
struct JudgeCase {
  Specification specification{};
  std::vector<Observation> observations{};
  Names nodes{};
  Facts assumed{};
  const RunJournal* baseline = nullptr;
  std::string today = "2026-11-21";
  const HostLevels* levels = nullptr;
  bool soak = false;
  const machine::HostWindows* machines = nullptr;

  /// 1 MiB of all-reduce, 450 GB/s, fails below 90 % and above 105 %; three launches, cv 5 %.
  explicit JudgeCase(SetKind kind = SetKind::PerNode) {
    specification.run = {.launches = 3, .min_launches = 3};
    specification.noise.max_cv = 0.05;
    specification.device_sets = {{.id = "set", .kind = kind, .ranks_per_node = 8}};
    specification.rules = {{.id = "floor",
                            .collectives = {"allreduce"},
                            .device_set = "set",
                            .sizes = {kMiB},
                            .value = 450,
                            .bounds = {.fail_below = 0.90, .fail_above = 1.05}}};
  }

  Rule& rule() { return specification.rules.front(); }
  DeviceSetRule& set() { return specification.device_sets.front(); }

  /// Another device set, with a rule as the first one is.
  void add_set(const std::string& id, SetKind kind) {
    specification.device_sets.push_back({.id = id, .kind = kind, .ranks_per_node = 8});
    specification.rules.push_back(rule());
    specification.rules.back().id = specification.rules.back().device_set = id;
  }

  /// A launch with one row of each size that the rule has.
  Observation& launch(const Names& on, double busbw, int number = 0, int attempt = 0) {
    const int count = static_cast<int>(on.size());
    Observation& o = observations.emplace_back(Observation{.device_set = "set",
                                                           .instance = join(on, "+"),
                                                           .nodes = on,
                                                           .launch = number,
                                                           .attempt = attempt,
                                                           .collective = "allreduce",
                                                           .file = "x.csv"});
    for (const Bytes size : rule().sizes) {
      o.records.push_back({.collective = "allreduce",
                           .backend = "nccl",
                           .ranks = count * 8,
                           .nodes = count,
                           .type = "float",
                           .op = "sum",
                           .size = size,
                           .time_median_us = 100,
                           .time_p99_us = 125,
                           .algbw_GBps = busbw / 1.75,
                           .busbw_GBps = busbw,
                           .wrong = 0});
    }
    return o;
  }

  /// Launches number 0, 1, ... with these values.
  void launches(const Names& on, const std::vector<double>& values, int attempt = 0) {
    int number = 0;
    for (const double value : values) launch(on, value, number++, attempt);
  }

  /// Three equal launches.
  void steady(const Names& on, double value) { launches(on, {value, value, value}); }

  /// h1 to h`count` are the nodes, each with three equal launches.
  JudgeCase& steady_nodes(std::size_t count, double value = 450) {
    nodes = names(count);
    for (const std::string& node : nodes) steady({node}, value);
    return *this;
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

  /// Changes the first row of every launch, or of those of an instance.
  JudgeCase& each(const std::function<void(Record&)>& change, const std::string& instance = {}) {
    for (Observation& o : observations) {
      if (instance.empty() || o.instance == instance) change(o.records.at(0));
    }
    return *this;
  }
  /// Sets the bandwidth of these rows.
  void set_rate(double busbw, const std::string& instance = {}) {
    each([&](Record& r) { r.busbw_GBps = busbw; }, instance);
  }

  /// Compares with the other nodes, far beyond their scatter.
  void against_fleet(double fail_below = 0.9, double min_robust_z = 6) {
    rule().compare = RuleKind::Fleet;
    rule().bounds = {.fail_below = fail_below};
    rule().min_robust_z = min_robust_z;
    rule().max_fleet_mad = 0.05;
  }

  [[nodiscard]] JudgeInput input() const {
    return {.specification = specification,
            .observations = observations,
            .baseline = baseline,
            .today = today,
            .nodes = nodes,
            .levels = levels,
            .soak = soak,
            .machines = machines,
            .assumed = assumed};
  }
  [[nodiscard]] Acceptance judged() const { return judge_all(input()); }

  [[nodiscard]] CheckResult first() const { return judged().verdicts.at(0); }
  [[nodiscard]] Outcome overall() const { return judged().overall(); }
};

using PairFunction = std::function<double(std::size_t, std::size_t)>;

/// Three equal launches of every pair of h1 to h`count`; `value` takes their numbers from 0. By
/// 100 GB/s, or by the fleet.
inline JudgeCase pairs_case(std::size_t count, RuleKind compare, const PairFunction& value) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(count);
  one.against_fleet();
  one.rule().compare = compare;
  one.rule().value = 100;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      one.steady({one.nodes[i], one.nodes[j]}, value(i, j));
    }
  }
  return one;
}

/// `wanted` is the outcome, and behind a space the token of a reason if there is one.
inline void expect_result(const CheckResult& result, const std::string& wanted) {
  const std::string outcome = wanted.substr(0, wanted.find(' '));
  EXPECT_EQ(name(result.outcome), outcome) << result.reason;
  EXPECT_EQ(result.reason.empty(), outcome == wanted) << result.reason;
  if (outcome == wanted) return;
  EXPECT_THAT(result.reason, testing::HasSubstr(wanted.substr(outcome.size() + 1)));
}

/// What changes of a healthy h1 (three launches of 450 GB/s), and what its check then gives.
using Change = std::function<void(JudgeCase&)>;
struct ChangedCase {
  std::string name{};
  std::string result{};  ///< of expect_result()
  Change change{};
};

inline void expect_results(const std::vector<ChangedCase>& cases) {
  for (const ChangedCase& one : cases) {
    SCOPED_TRACE(one.name);
    JudgeCase changed;
    changed.steady({"h1"}, 450);
    one.change(changed);
    expect_result(changed.first(), one.result);
  }
}

/// Changes the row of every launch.
inline Change every(std::function<void(Record&)> change) {
  return [change = std::move(change)](JudgeCase& c) { c.each(change); };
}
inline Change measured(std::vector<double> values) {
  return [values = std::move(values)](JudgeCase& c) { c.measured(values); };
}

inline std::vector<Names> nodes_of(const std::vector<Suspect>& suspects) {
  std::vector<Names> nodes;
  for (const Suspect& suspect : suspects) nodes.push_back(suspect.nodes);
  return nodes;
}

/// The states in the order of the nodes: "good failed good good".
inline std::string states(const Acceptance& acceptance) {
  return join_each(acceptance.nodes, " ",
                   [](const NodeAccount& account) { return name(account.state); });
}

}  // namespace busbar::judge
