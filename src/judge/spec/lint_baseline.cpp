// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "judge/run_facts.hpp"
#include "judge/spec/lint_parts.hpp"

namespace busbar::judge {
namespace {

using Severity = LintFinding::Severity;

/// The fingerprint's word for a fact of a baseline.
std::string fingerprint_key(const std::string& fact) {
  if (fact == "nccl") return "library";
  if (fact == "ngpus") return "gpus_per_node";
  return fact;
}

/// Why a fact cannot be matched, or empty.
std::string fact_fault(const Specification& specification, const Baseline& baseline,
                       const std::string& fact) {
  // Each of its rows is of one, which is held against the rules'.
  if (fact == "device_set") return {};
  const std::string key = fingerprint_key(fact);
  const auto told = baseline.facts.find(fact);
  const auto wanted = specification.system.fingerprint.find(key);
  if (told == baseline.facts.end()) {
    return fmt::format("must_match wants {}, which {} does not tell", fact, baseline.file);
  }
  if (wanted == specification.system.fingerprint.end()) {
    return fmt::format("must_match wants {}, but the fingerprint of [system] has no {} to match",
                       fact, key);
  }
  if (matches_fact(key, told->second, wanted->second)) return {};
  return fmt::format("{} is of {} '{}', the fingerprint of [system] wants {} {}", baseline.file,
                     fact, told->second, key, wanted_words(wanted->second));
}

std::string age_fault(const BaselineRule& rule, const Baseline& baseline,
                      const std::string& today) {
  const int days = days_between(baseline.made_on, today);
  if (days < 0) {
    return fmt::format("{} was made on {}, after today ({})", baseline.file, baseline.made_on,
                       today);
  }
  if (days <= rule.max_age_days) return {};
  return fmt::format("{} was made on {}, {} days ago; max_age_days is {}: measure a new one",
                     baseline.file, baseline.made_on, days, rule.max_age_days);
}

bool has_row(const Baseline& baseline, const Expectation& rule, const std::string& collective,
             Bytes size) {
  return std::any_of(baseline.rows.begin(), baseline.rows.end(), [&](const BaselineRow& row) {
    const BaselineKey wanted{rule.device_set, row.key.instance, collective, rule.type, size,
                             rule.metric,     rule.statistic};
    return row.key == wanted;
  });
}

void lint_rows(const Baseline& baseline, const Expectation& rule, LintFindings& findings) {
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      if (has_row(baseline, rule, collective, size)) continue;
      findings.push_back({.severity = Severity::Refused,
                          .place = rule.place,
                          .rule = rule.id,
                          .text = fmt::format("{} has no {} {} of {} {} on {}", baseline.file,
                                              name(rule.statistic), name(rule.metric), collective,
                                              format_bytes(size), rule.device_set)});
      return;
    }
  }
}

bool compares(const Expectation& rule) { return rule.compare == Comparison::Baseline; }

}  // namespace

void lint_baseline(const Specification& specification, const Baseline* baseline,
                   const std::string& today, LintFindings& findings) {
  if (!specification.baseline) return;
  const BaselineRule& rule = *specification.baseline;
  const auto add = [&](Severity severity, const std::string& text) {
    if (text.empty()) return;
    findings.push_back({.severity = severity, .place = rule.place, .text = text});
  };
  const auto& rules = specification.expectations;
  if (std::none_of(rules.begin(), rules.end(), compares)) {
    // A profile or --rule may leave out the rules that need it.
    if (specification.profile.empty() && specification.only.empty()) {
      add(Severity::Warning, "no rule is compared with the [baseline]");
    }
    return;
  }
  if (baseline == nullptr) {
    add(Severity::Refused,
        fmt::format("{} is not there or cannot be read; busbar accept baseline makes one",
                    rule.file));
    return;
  }
  add(Severity::Refused, age_fault(rule, *baseline, today));
  for (const std::string& fact : rule.must_match) {
    add(Severity::Refused, fact_fault(specification, *baseline, fact));
  }
  for (const Expectation& expectation : rules) {
    if (compares(expectation)) lint_rows(*baseline, expectation, findings);
  }
}

}  // namespace busbar::judge
