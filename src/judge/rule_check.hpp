// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "judge/baseline.hpp"
#include "judge/sample.hpp"
#include "judge/spec/ceiling.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// What a value is measured by.
struct Reference {
  double value = 0;     ///< GB/s or us
  std::string kind{};   ///< "absolute", "ceiling: ...", "baseline of 2026-11-21", "fleet median"
  std::string error{};  ///< why there is none
};

/// What references are taken from.
struct ReferenceInput {
  const Specification& specification;
  std::span<const Observation> observations;
  const Baseline* baseline = nullptr;
  std::string today{};
  const std::map<std::string, std::string>& assumed;
  CeilingTable& ceilings;
};

/// The reference of an absolute, theoretical or baseline rule, or why there is none.
[[nodiscard]] Reference reference_of(const SampleKey& key, const Sample& sample,
                                     const ReferenceInput& input);

/// "365.6 GB/s", "12.4 us".
[[nodiscard]] std::string value_words(double value, Metric metric);
/// "81.2 %", without needless digits.
[[nodiscard]] std::string percent_words(double share);

/// A result without a measurement: an ERROR.
[[nodiscard]] CheckResult blank_result(const Expectation& rule, const Instance& instance,
                                       const std::string& collective, Bytes size);

/// Fills reference, ratio, word and reason by the bounds that are there; without any bound it is an
/// ERROR, since nothing would ever fail.
void check_bounds(CheckResult& verdict, const Reference& reference);

/// Adds to a reason: "first; second".
void add_reason(CheckResult& verdict, const std::string& more);

/// A verdict, and what later steps need to know of it.
struct CheckedRow {
  CheckResult verdict{};
  Sample sample{};
  bool decided = false;  ///< no bound is to be asked any more

  [[nodiscard]] bool wrong_data() const { return verdict.cause == Cause::WrongData; }
};

/// The steps before bounds: wrong data, no data, too few launches, noise, not applicable.
[[nodiscard]] CheckedRow judge_sample(const SampleKey& key, const ReferenceInput& input);

/// A row that is decided without bounds: its reference, the ratio where it has a value, and where
/// only launches are missing what the bounds would say of those that there are.
void show_reference(CheckedRow& row, const Reference& reference);

/// The steps after bounds: rows that are never a pass, launches that failed, noise by `warn`, two
/// groups of values.
void qualify(CheckedRow& row, const Expectation& rule, const Specification& specification);

/// All verdicts of one rule that is no fleet rule.
[[nodiscard]] std::vector<CheckedRow> judge_rule(const Expectation& rule,
                                                 std::span<const Instance> instances,
                                                 const ReferenceInput& input);

/// Over all rows of a rule: FAILs that are allowed or known become WARN and KNOWN; a pass that is
/// known to fail becomes WARN. `today` is "2026-11-21".
void apply_waivers(std::vector<CheckedRow>& rows, const Expectation& rule,
                   const std::string& today);

}  // namespace busbar::judge
