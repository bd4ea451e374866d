// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judge.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/node_accounts.hpp"
#include "judge/rule_check.hpp"
#include "judge/run_facts.hpp"
#include "judge/suspects.hpp"
#include "model/flag.hpp"

namespace busbar::judge {
namespace {

/// What could not have been measured: an ERROR, never left out.
CheckedRow no_data(const Expectation& rule, const Instance& instance, std::string reason) {
  CheckedRow row{
      .verdict = blank_result(rule, instance, rule.collectives.front(), rule.sizes.front()),
      .decided = true};
  row.verdict.reason = std::move(reason);
  return row;
}

/// Nodes that no group of a bisected set had: an ERROR each, never left out.
void add_unmeasured(RuleResult& judged, std::span<const Instance> instances,
                    std::span<const std::string> nodes) {
  for (const std::string& node : nodes) {
    const bool seen =
        std::any_of(instances.begin(), instances.end(),
                    [&](const Instance& instance) { return has_node(instance.nodes, node); });
    if (seen) continue;
    judged.rows.push_back(
        no_data(*judged.rule, {.name = node, .nodes = {node}}, "no data: no group has this node"));
  }
}

RuleResult judge_expectation(const Expectation& rule, std::span<const std::string> nodes,
                             const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  RuleResult judged{.rule = &rule, .set = &set};
  const std::vector<Instance> instances = instances_of(set, nodes, input.observations);
  if (rule.compare == Comparison::Fleet) {
    FleetResult fleet = judge_fleet_rule(rule, instances, nodes, input);
    judged.rows = std::move(fleet.rows);
    judged.blames = std::move(fleet.blames);
  } else {
    judged.rows = judge_rule(rule, instances, input);
  }
  if (is_bisected(set, nodes.size())) add_unmeasured(judged, instances, nodes);
  if (judged.rows.empty()) {
    judged.rows.push_back(
        no_data(rule, {.name = "all"}, "no data: the set has no nodes to measure on"));
  }
  apply_waivers(judged.rows, rule, input.today);
  return judged;
}

void note_assumptions(Acceptance& acceptance, const JudgeInput& input) {
  if (!input.specification.only.empty()) {
    acceptance.head.notes.push_back("judged by these rules only (--rule): " +
                                    join(input.specification.only, ", "));
  }
  for (const auto& [key, value] : input.assumed) {
    acceptance.head.notes.push_back(
        fmt::format("assumed, where files do not report it: {} = {}", key, value));
  }
}

/// What rows are that are never a pass, once each.
void note_rows(Acceptance& acceptance, std::span<const Observation> observations) {
  std::set<std::string> notes;
  for (const Observation& observation : observations) {
    for (const Record& record : observation.records) {
      if (record.backend == "sim") notes.insert("simulated: rows are predicted, not measured");
      if (has_flag(record, Flag::Fake)) {
        notes.insert("fake: rows are measured on no real GPU");
      }
    }
  }
  acceptance.head.notes.insert(acceptance.head.notes.end(), notes.begin(), notes.end());
}

/// Verdicts of rows whose ranks shared processors.
struct Oversubscribed {
  std::size_t verdicts = 0;
  std::set<std::string> sets{};
};

void note_oversubscribed(Acceptance& acceptance, const Oversubscribed& found) {
  if (found.verdicts == 0) return;
  acceptance.head.notes.push_back(fmt::format(
      "oversubscribed: ranks shared processors in {} of {} (device set {}); these never pass",
      found.verdicts, counted(acceptance.verdicts.size(), "verdict"), join_all(found.sets, ", ")));
}

/// Nothing can be said by the rules of another system.
void refuse_all(Acceptance& acceptance, const std::string& reason) {
  acceptance.head.refused = reason;
  for (CheckResult& verdict : acceptance.verdicts) {
    verdict.outcome = Outcome::Error;
    verdict.reason = reason;
    verdict.cause = Cause::Other;
    verdict.unreachable.clear();
  }
  acceptance.suspects.clear();
}

}  // namespace

Acceptance judge_all(const JudgeInput& input) {
  CeilingTable ceilings(input.specification.ceiling);
  const ReferenceInput given{.specification = input.specification,
                             .observations = input.observations,
                             .baseline = input.baseline,
                             .today = input.today,
                             .assumed = input.assumed,
                             .ceilings = ceilings};
  const std::vector<std::string> nodes =
      nodes_to_judge(input.nodes, input.specification, input.observations);
  Acceptance acceptance;
  note_assumptions(acceptance, input);
  note_rows(acceptance, input.observations);
  for (std::string& note : shared_host_notes(input.observations)) {
    acceptance.head.notes.push_back(std::move(note));
  }
  Oversubscribed oversubscribed;
  std::vector<Cleared> cleared;
  for (const Expectation& rule : input.specification.expectations) {
    RuleResult judged = judge_expectation(rule, nodes, given);
    std::vector<Suspect> suspects = suspects_of(judged, nodes);
    for (Cleared& one : confirm(judged, suspects, input.observations)) {
      cleared.push_back(std::move(one));
    }
    acceptance.suspects.insert(acceptance.suspects.end(), suspects.begin(), suspects.end());
    for (CheckedRow& row : judged.rows) {
      if (row.sample.oversubscribed) {
        ++oversubscribed.verdicts;
        oversubscribed.sets.insert(row.verdict.device_set);
      }
      acceptance.verdicts.push_back(std::move(row.verdict));
    }
  }
  note_oversubscribed(acceptance, oversubscribed);
  drop_explained(acceptance.suspects);
  const std::string stranger =
      fingerprint_error(input.specification, input.observations, input.assumed);
  if (!stranger.empty()) refuse_all(acceptance, stranger);
  acceptance.nodes = accounts_of(nodes, acceptance.verdicts, acceptance.suspects, cleared);
  return acceptance;
}

std::vector<NoisyInstance> noisy_instances(const Acceptance& acceptance) {
  std::vector<NoisyInstance> noisy;
  for (const CheckResult& verdict : acceptance.verdicts) {
    const bool is_noisy = verdict.outcome == Outcome::Inconclusive && verdict.cause == Cause::Noisy;
    const bool known = std::any_of(noisy.begin(), noisy.end(), [&](const NoisyInstance& other) {
      return other.device_set == verdict.device_set && other.instance == verdict.instance &&
             other.collective == verdict.collective;
    });
    if (!is_noisy || known) continue;
    noisy.push_back({.device_set = verdict.device_set,
                     .instance = verdict.instance,
                     .collective = verdict.collective,
                     .attempts = verdict.attempts});
  }
  return noisy;
}

}  // namespace busbar::judge
