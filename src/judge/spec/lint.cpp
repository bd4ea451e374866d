// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "judge/run_facts.hpp"
#include "judge/spec/lint_parts.hpp"

namespace busbar::judge {
namespace {

using Severity = LintFinding::Severity;

void lint_collectives(const Specification& specification, const Expectation& rule,
                      CeilingTable& ceilings, LintFindings& findings) {
  const DeviceSetRule& set = specification.device_set(rule.device_set);
  for (const std::string& collective : rule.collectives) {
    LintCase subject{.specification = specification,
                     .rule = rule,
                     .collective = collective,
                     .shape = shape_of(set, specification.system)};
    try {
      subject.ceiling = ceilings.of(collective, subject.shape);
    } catch (const Error& error) {
      findings.push_back({.severity = Severity::Refused,
                          .place = set.place,
                          .rule = rule.id,
                          .text = error.what()});
      return;
    }
    lint_floors(subject, findings);
    lint_latency(subject, findings);
  }
}

/// An absolute or theoretical rule is only half of a test without its other side.
void lint_sides(const Expectation& rule, LintFindings& findings) {
  const bool fixed =
      rule.compare == Comparison::Absolute || rule.compare == Comparison::Theoretical;
  if (!fixed) return;
  const Bounds& bounds = rule.bounds;
  const bool time = rule.metric == Metric::Time;
  const bool guarded =
      time ? bounds.fail_below || bounds.warn_below : bounds.fail_above || bounds.warn_above;
  if (guarded) return;
  findings.push_back(
      {.severity = Severity::Warning,
       .place = rule.place,
       .rule = rule.id,
       .text = fmt::format("nothing tells what is too good to be true (a wrong size, clock or "
                           "number of ranks would pass); give {}",
                           time ? "fail_below" : "fail_above")});
}

void lint_fleet(const Specification& specification, const Expectation& rule,
                LintFindings& findings) {
  if (rule.compare != Comparison::Fleet) return;
  const auto is_floor = [&](const Expectation& other) {
    const bool fixed =
        other.compare == Comparison::Absolute || other.compare == Comparison::Theoretical;
    return fixed && other.device_set == rule.device_set && other.metric != Metric::Time &&
           other.bounds.fail_below;
  };
  const auto& rules = specification.expectations;
  if (std::any_of(rules.begin(), rules.end(), is_floor)) return;
  findings.push_back(
      {.severity = Severity::Warning,
       .place = rule.place,
       .rule = rule.id,
       .text = fmt::format("an all-bad fleet would pass: give {} also a rule with compare = "
                           "\"absolute\" or \"theoretical\" and fail_below",
                           rule.device_set)});
}

/// What every rule of a run would be an ERROR for.
void lint_fingerprint(const Specification& specification, LintFindings& findings) {
  if (specification.system.fingerprint.empty()) {
    findings.push_back({.severity = Severity::Warning,
                        .place = {.line = 1, .column = 1},
                        .text = "[system] has no fingerprint: any machine would pass for it"});
  }
  std::string never = unreported_error(specification, {});
  if (never.empty()) return;
  findings.push_back({.severity = Severity::Warning,
                      .place = specification.system.fingerprint_place,
                      .text = std::move(never)});
}

void lint_known_issue(const Expectation& rule, const std::string& today, LintFindings& findings) {
  if (!rule.known_issue || rule.known_issue->until >= today) return;
  findings.push_back(
      {.severity = Severity::Warning,
       .place = rule.place,
       .rule = rule.id,
       .text = fmt::format("known_issue \"{}\" ended on {}: its failures count again",
                           rule.known_issue->reason, rule.known_issue->until)});
}

void lint_sets(const Specification& specification, LintFindings& findings) {
  for (const DeviceSetRule& set : specification.device_sets) {
    const auto& rules = specification.expectations;
    const bool used = std::any_of(rules.begin(), rules.end(), [&](const Expectation& rule) {
      return rule.device_set == set.id;
    });
    if (used) continue;
    findings.push_back({.severity = Severity::Warning,
                        .place = set.place,
                        .text = fmt::format("no rule is for device_set \"{}\"", set.id)});
  }
}

}  // namespace

SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system) {
  const int all = static_cast<int>(system.nodes.size());
  const auto shape = [&](int nodes) {
    return SetShape{.ranks = nodes * set.ranks_per_node, .nodes = nodes, .gpus = set.gpus};
  };
  switch (set.kind) {
    case SetKind::PerNode: return shape(1);
    case SetKind::Pairwise: return shape(2);
    case SetKind::List: return shape(static_cast<int>(set.nodes.size()));
    case SetKind::Whole: return shape(all);
    // One rank of each node; which of its GPUs differs from rail to rail.
    case SetKind::Rails: return {.ranks = all, .nodes = all};
  }
  return {};
}

std::vector<LintFinding> lint(const Specification& specification, const Baseline* baseline,
                              const std::string& today) {
  LintFindings findings;
  CeilingTable ceilings(specification.ceiling);
  lint_sets(specification, findings);
  lint_baseline(specification, baseline, today, findings);
  lint_fingerprint(specification, findings);
  for (const Expectation& rule : specification.expectations) {
    lint_collectives(specification, rule, ceilings, findings);
    lint_sides(rule, findings);
    lint_fleet(specification, rule, findings);
    lint_known_issue(rule, today, findings);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const LintFinding& one, const LintFinding& other) {
                     return std::tie(one.place.line, one.place.column) <
                            std::tie(other.place.line, other.place.column);
                   });
  // What is wrong with a rule is often wrong for each of its collectives.
  LintFindings once;
  for (const LintFinding& finding : findings) {
    const bool told = std::any_of(once.begin(), once.end(), [&](const LintFinding& earlier) {
      return earlier.rule == finding.rule && earlier.text == finding.text;
    });
    if (!told) once.push_back(finding);
  }
  return once;
}

bool is_refused(std::span<const LintFinding> findings) {
  return std::any_of(findings.begin(), findings.end(), [](const LintFinding& finding) {
    return finding.severity == Severity::Refused;
  });
}

std::string lint_text(const std::string& file, std::span<const LintFinding> findings) {
  std::string text;
  for (const LintFinding& finding : findings) {
    const std::string rule = finding.rule.empty() ? "" : fmt::format("rule {}: ", finding.rule);
    text += fmt::format("{}:{}:{}: {}: {}{}\n", file, finding.place.line, finding.place.column,
                        finding.severity == Severity::Refused ? "refused" : "warning", rule,
                        finding.text);
  }
  return text;
}

}  // namespace busbar::judge
