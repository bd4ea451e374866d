// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet/fleet.hpp"
#include "judge/rule_check.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kFewest = 3;  // of two, it is unknown which is the odd one

std::string too_few(std::size_t instances) {
  return fmt::format("data of {} only; a fleet comparison needs {}", counted(instances, "instance"),
                     kFewest);
}

/// The bounds of a value beside the outlier's: too good, and warnings; the finding decides on low.
void judge_one(CheckedRow& row, const FleetFinding& finding, const Reference& reference, bool low) {
  apply_reference(row, reference);
  const double z = finding.spread.robust_z(*row.value);
  if (low) {
    if (row.outcome != Outcome::Error) row.outcome = Outcome::Fail;
    add_reason(row, finding.homogeneous
                        ? fmt::format("robust z {:.3g}", z)
                        : "against the 90th percentile, since the fleet is not homogeneous");
  } else if (row.is_low()) {
    row.outcome = row.bounds.warn_below ? Outcome::Warn : Outcome::Pass;
    add_reason(row, fmt::format("robust z {:.3g} is within the fleet's scatter", z));
  }
}

std::string scatter_text(const FleetFinding& finding, const Rule& rule) {
  return fmt::format("fleet not homogeneous: raw MAD/median {} above {}",
                     percent_text(finding.spread.mad / finding.spread.median),
                     percent_text(rule.max_fleet_mad));
}

/// Whether members, each measured by itself, are fewer hosts.
bool share_machine(const SampleKey& key, const JudgeInput& input) {
  std::set<std::string> hosts;
  std::set<std::string> nodes;
  for (const Observation& launch : input.observations) {
    std::set<std::string> own = hosts_of(launch);
    if (launch.device_set != key.set.id || own.empty()) continue;
    hosts.merge(own);
    nodes.insert(launch.nodes.begin(), launch.nodes.end());
  }
  return hosts.size() < nodes.size();
}

/// The row of all instances, before it is judged. If any row can never pass, neither can the
/// fleet.
CheckedRow fleet_row(const PointResult& point, const SampleKey& key, const JudgeInput& input) {
  CheckedRow fleet = blank_row(key.rule, {.name = std::string(kFleet), .nodes = input.nodes},
                               key.collective, key.size);
  fleet.bounds = {};
  if (share_machine(key, input)) fleet.sample.flaws.insert(Flaw::SameMachine);
  for (const CheckedRow& row : point.rows) {
    fleet.attempts = std::max(fleet.attempts, row.attempts);
    fleet.sample.flaws.insert(row.sample.flaws.begin(), row.sample.flaws.end());
    if (!row.decided) fleet.values.push_back(*row.value);
  }
  return fleet;
}

/// Judges rows with values that are enough for a fleet.
void judge_values(PointResult& point, const std::vector<CheckedRow*>& rows, const SampleKey& key) {
  const auto rates = mapped(rows, [](const CheckedRow* row) { return *row->value; });
  const FleetFinding finding =
      judge_members(rates, {.fail_below = key.rule.bounds.fail_below.value_or(0),
                            .min_robust_z = key.rule.min_robust_z,
                            .max_fleet_mad = key.rule.max_fleet_mad});
  const Reference reference{
      .value = finding.reference,
      .kind = finding.homogeneous ? "fleet median" : "fleet's 90th percentile"};
  for (CheckedRow& row : point.rows) {
    if (row.decided) apply_reference(row, reference);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    judge_one(*rows[i], finding, reference, finding.low[i]);
  }
  CheckedRow& fleet = *point.fleet;
  // What the instances are measured by; a percentile would be no middle of them.
  fleet.value = finding.spread.median;
  fleet.reference_kind = reference.kind;
  fleet.outcome = finding.homogeneous ? Outcome::Pass : Outcome::Fail;
  if (!finding.homogeneous) fleet.reason = scatter_text(finding, key.rule);
}

}  // namespace

void judge_fleet(PointResult& point, const SampleKey& key, const JudgeInput& input) {
  CheckedRow& fleet = point.fleet.emplace(fleet_row(point, key, input));
  std::vector<CheckedRow*> rows;
  for (CheckedRow& row : point.rows) {
    if (!row.decided) rows.push_back(&row);
  }
  if (rows.size() >= kFewest) {
    judge_values(point, rows, key);
  } else {
    fleet.outcome = Outcome::Inconclusive;
    fleet.reason = too_few(rows.size());
    fleet.values.clear();
    for (CheckedRow* row : rows) {
      row->outcome = fleet.outcome;
      row->reason = fleet.reason;
    }
  }
  for (CheckedRow& row : point.rows) qualify(row, key.rule, input.specification);
  qualify(fleet, key.rule, input.specification);
}

}  // namespace busbar::judge
