// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judge.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/rule_check.hpp"
#include "judge/suspects.hpp"
#include "model/flag.hpp"

namespace busbar::judge {
namespace {

/// What generic name of a GPU stands for another, or empty.
std::string gpu_note(const JudgeInput& input) {
  const auto& fingerprint = input.specification.system.fingerprint;
  const auto gpu = fingerprint.find("gpu");
  if (gpu == fingerprint.end() || input.assumed.contains("gpu")) return {};
  for (const Observation& observation : input.observations) {
    std::string note = study::generic_gpu_note(observation.view(), gpu->second.front());
    if (!note.empty()) return note;
  }
  return {};
}

/// A line for each host name under which launches of several nodes ran.
std::vector<std::string> shared_host_notes(std::span<const Observation> observations,
                                           bool same_machine) {
  std::map<std::string, std::set<std::string>> nodes_of;
  for (const Observation& observation : observations) {
    const std::set<std::string> hosts = hosts_of(observation);
    // Of several hosts it is not known which is which node.
    if (observation.records.empty() || hosts.size() != 1) continue;
    nodes_of[*hosts.begin()].insert(observation.nodes.begin(), observation.nodes.end());
  }
  std::vector<std::string> notes;
  for (const auto& [host, nodes] : nodes_of) {
    if (nodes.size() < 2) continue;
    notes.push_back(
        fmt::format("nodes {} ran on one host by its own name, {}: {}", join_all(nodes, " "), host,
                    same_machine ? "they may be one machine, which same_machine permits"
                                 : "they may be one machine, and rules between them never pass "
                                   "([run] same_machine = true or --same-machine permits it)"));
  }
  return notes;
}

/// Assumptions, and what rows are that are never a pass, once each.
std::vector<std::string> notes_of(const JudgeInput& input) {
  std::vector<std::string> notes;
  if (!input.specification.only.empty()) {
    notes.push_back("judged by these rules only (--rule): " + join(input.specification.only, ", "));
  }
  for (const auto& [key, value] : input.assumed) {
    notes.push_back(fmt::format("assumed, where files do not report it: {} = {}", key, value));
  }
  std::set<std::string> of_rows;
  for (const Observation& observation : input.observations) {
    for (const Record& record : observation.records) {
      if (record.backend == "sim") of_rows.insert("simulated: rows are predicted, not measured");
      if (has_flag(record, Flag::Fake)) of_rows.insert("fake: rows are measured on no real GPU");
    }
  }
  append(notes, of_rows);
  for (const DeviceSetRule& set : input.specification.device_sets) {
    const auto variable = [](const auto& one) {
      return fmt::format("{}={}", one.first, one.second);
    };
    std::vector<std::string> settings = mapped(set.env, variable);
    append(settings, set.backend_options);
    if (settings.empty()) continue;
    notes.push_back(fmt::format("device set {} ran with {}", set.id, join(settings, " ")));
  }
  if (std::string note = gpu_note(input); !note.empty()) notes.push_back(std::move(note));
  append(notes, shared_host_notes(input.observations, input.specification.run.same_machine));
  return notes;
}

/// The nodes to be judged: given, else of the specification, else those that were observed.
std::vector<std::string> nodes_to_judge(const JudgeInput& input) {
  if (!input.nodes.empty()) return input.nodes;
  std::vector<std::string> nodes = input.specification.system.nodes;
  if (!nodes.empty()) return nodes;
  for (const Observation& observation : input.observations) {
    for (const std::string& node : observation.nodes) add_new(nodes, node);
  }
  return nodes;
}

void refuse(CheckResult& verdict, const std::string& reason) {
  verdict.outcome = Outcome::Error;
  verdict.reason = reason;
  verdict.decided_by = DecidedBy::Other;
  verdict.unreachable.clear();
}

/// The rules of a set whose launches are not what it asks for are refused.
RuleResult checked_rule(const Rule& rule, const JudgeInput& input) {
  RuleResult judged = judge_rule(rule, input);
  const std::string error = set_error(judged.set, input.observations, input.assumed);
  if (!error.empty()) judged.each([&](CheckedRow& row) { refuse(row, error); });
  return judged;
}

/// Nothing can be said by the rules of another system.
void refuse_strangers(Acceptance& acceptance, const JudgeInput& input) {
  std::string& why = acceptance.head.refused;
  why = fingerprint_error(input.specification, input.observations, input.assumed);
  if (why.empty()) return;
  for (CheckResult& verdict : acceptance.verdicts) refuse(verdict, why);
  acceptance.suspects.clear();
}

}  // namespace

Acceptance judge_all(const JudgeInput& given) {
  JudgeInput input = given;
  input.nodes = nodes_to_judge(given);
  Acceptance acceptance;
  acceptance.head.notes = notes_of(input);
  std::size_t oversubscribed = 0;
  std::set<std::string> sets;  // of devices, whose ranks shared processors
  if (input.soak) judge_soak(input, acceptance);
  acceptance.suspects = suspects_of(acceptance.verdicts);
  const std::vector<Rule> none;
  for (const Rule& rule : input.soak ? none : input.specification.rules) {
    RuleResult judged = checked_rule(rule, input);
    append(acceptance.suspects, suspects_of(judged));
    for (const PointResult& point : judged.points) append(acceptance.pairs, point.pairs);
    judged.each([&](CheckedRow& row) {
      if (row.sample.flaws.contains(Flaw::Oversubscribed)) {
        ++oversubscribed;
        sets.insert(row.device_set);
      }
      acceptance.verdicts.push_back(std::move(row));
    });
  }
  if (oversubscribed > 0) {
    acceptance.head.notes.push_back(fmt::format(
        "oversubscribed: ranks shared processors in {} of {} (device set {}); these {}",
        oversubscribed, counted(acceptance.verdicts.size(), "verdict"), join_all(sets, ", "),
        input.specification.run.same_machine ? "pass by same_machine" : "never pass"));
  }
  const std::vector<CheckResult> facts = judge_facts(input);
  append(acceptance.verdicts, facts);
  append(acceptance.suspects, suspects_of(facts));
  drop_explained(acceptance.suspects);
  add_log_names(acceptance.suspects, input.observations);
  if (input.machines != nullptr) add_fact_evidence(acceptance.suspects, *input.machines);
  refuse_strangers(acceptance, input);
  acceptance.nodes = accounts_of(input.nodes, acceptance.verdicts, acceptance.suspects);
  return acceptance;
}

}  // namespace busbar::judge
