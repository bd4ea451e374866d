// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/judged_rule.hpp"

namespace busbar::judge {
namespace {

using CurveName = std::pair<std::string, std::string>;  // instance and collective

CurveName curve_of(const RuleVerdict& verdict) { return {verdict.instance, verdict.collective}; }

bool may_be_excused(const JudgedRow& row) {
  return row.verdict.word == Word::Fail && !row.wrong_data && !row.verdict.of_fleet();
}

/// Where a curve has more misses than are allowed, all of them stay.
void allow_misses(std::vector<JudgedRow>& rows, int allowed) {
  if (allowed <= 0) return;
  std::map<CurveName, int> misses;
  for (const JudgedRow& row : rows) {
    if (row.verdict.word == Word::Fail) ++misses[curve_of(row.verdict)];
  }
  for (JudgedRow& row : rows) {
    const int count = misses[curve_of(row.verdict)];
    if (!may_be_excused(row) || count > allowed) continue;
    row.verdict.word = Word::Warn;
    add_reason(row.verdict, fmt::format("{} of {} allowed misses of this curve", count, allowed));
  }
}

void apply_known_issue(JudgedRow& row, const KnownIssue& issue, const std::string& today) {
  RuleVerdict& verdict = row.verdict;
  const bool expected = today <= issue.until;  // ISO dates sort as text; that day is in it
  if (verdict.word == Word::Fail && !row.wrong_data) {
    if (expected) verdict.word = Word::Known;
    add_reason(verdict,
               fmt::format("{}: {} ({} {})", expected ? "known" : "known issue is over",
                           issue.reason, expected ? "until" : "it was until", issue.until));
  } else if (verdict.word == Word::Pass && expected) {
    verdict.word = Word::Warn;
    add_reason(verdict, "passes although known to fail: " + issue.reason);
  }
}

}  // namespace

void excuse(std::vector<JudgedRow>& rows, const Expectation& rule, const std::string& today) {
  allow_misses(rows, rule.allow_misses);
  if (!rule.known_issue) return;
  for (JudgedRow& row : rows) apply_known_issue(row, *rule.known_issue, today);
}

}  // namespace busbar::judge
