// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet/fleet.hpp"
#include "judge/run/journal.hpp"
#include "judge/spec/ceiling.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kFewest = 3;  // of two, it is unknown which is the odd one

/// The bounds of a value beside the outlier's: too good, and warnings; the finding decides on low.
void judge_one(CheckedRow& row, const FleetFinding& finding, const Reference& reference, bool low) {
  apply_reference(row, reference);
  const double z = finding.robust_z(*row.value);
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

/// Before it is judged. If any row can never pass, neither can the fleet.
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
  const FleetFinding finding = judge_members(rates, key.rule);
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
  fleet.value = finding.median;
  fleet.reference_kind = reference.kind;
  fleet.outcome = finding.homogeneous ? Outcome::Pass : Outcome::Fail;
  if (finding.homogeneous) return;
  fleet.reason =
      fmt::format("fleet not homogeneous: raw MAD/median {} above {}",
                  percent_text(finding.mad / finding.median), percent_text(key.rule.max_fleet_mad));
}

/// Judges rows by their own fleet, whose row says whether it is alike at all; `key`: of one
/// instance.
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
    fleet.reason = fmt::format("data of {} only; a fleet comparison needs {}",
                               counted(rows.size(), "instance"), kFewest);
    fleet.values.clear();
    for (CheckedRow* row : rows) {
      row->outcome = fleet.outcome;
      row->reason = fleet.reason;
    }
  }
  for (CheckedRow& row : point.rows) qualify(row, key.rule, input.specification);
  qualify(fleet, key.rule, input.specification);
}

/// A pass is a surprise only where nothing fails: the issue may be of one node of many.
void apply_known_issue(RuleResult& judged, const KnownIssue& issue, const std::string& today) {
  const bool expected = today <= issue.until;  // ISO dates sort as text; that day is in it
  const Outcome of_failures = expected ? Outcome::Known : Outcome::Fail;
  const std::string text =
      fmt::format("{}: {} ({} {})", expected ? "known" : "known issue is over", issue.reason,
                  expected ? "until" : "it was until", issue.until);
  bool fails = false;
  std::vector<CheckedRow*> passes;
  judged.each([&](CheckedRow& row) {
    const bool named = std::ranges::any_of(
        row.nodes, [&](const std::string& node) { return contains(issue.nodes, node); });
    if (!named && !issue.nodes.empty()) return;
    if (row.outcome == Outcome::Pass) passes.push_back(&row);
    if (row.outcome != Outcome::Fail || row.is_broken()) return;
    fails = true;
    row.outcome = of_failures;
    add_reason(row, text);
  });
  if (fails || !expected) return;
  for (CheckedRow* row : passes) {
    row->outcome = Outcome::Warn;
    add_reason(*row, "passes although known to fail: " + issue.reason);
  }
}

Reference theoretical(const SampleKey& key, const Sample& sample, const Ceilings& ceilings) {
  if (const auto figure = ceilings(key.collective, key.shape())) {
    return {.value = figure->GBps, .kind = "ceiling: " + figure->text};
  }
  if (sample.bound_GBps) {
    return {.value = *sample.bound_GBps,
            .kind = fmt::format("ceiling: the rows' own bound, {:.4g} GB/s", *sample.bound_GBps)};
  }
  return {.kind = "ceiling",
          .error = "no ceiling is known: neither [ceiling] nor column bound_GBps has one"};
}

/// The rows of the earlier run for a collective and size, by the same reading.
std::vector<CheckedRow> earlier_rows(const SampleKey& of, const JudgeInput& input) {
  if (of.rule.compare != RuleKind::Baseline || input.baseline == nullptr) return {};
  const JudgeInput then{.specification = input.specification,
                        .observations = input.baseline->lines,
                        .nodes = input.baseline->nodes};
  const auto instances = instances_of(of.set, then.nodes);
  const auto keys = keys_of(of.rule, of.set, instances, of.collective, of.size);
  if (of.set.kind != SetKind::Pairwise || keys.empty()) {
    return mapped(keys, [&](const SampleKey& key) { return judge_sample(key, then); });
  }
  const auto none = [](const SampleKey&, const Sample&) { return Reference{.error = "-"}; };
  return judge_pairwise(keys, then, none).rows;
}

/// Why an earlier row is no reference, or empty.
std::string unfit(const CheckedRow& row, const Rule& rule, const Specification& specification) {
  if (row.decided) return row.reason;
  if (const auto flaw = flaw_of(row.sample, specification)) return std::string(name(*flaw));
  return noise_text(row, rule, specification);
}

/// The median over the launches of the earlier run; a node that has no past is measured by all.
Reference of_baseline(const SampleKey& key, std::span<const CheckedRow> earlier,
                      const JudgeInput& input) {
  Reference reference{.kind = "baseline " + input.specification.baseline->run};
  auto rows = filtered(earlier, [](const CheckedRow& row) { return row.value.has_value(); });
  if (any_has(rows, key.instance.name, &CheckedRow::instance)) {
    std::erase_if(rows, [&](const CheckedRow& row) { return row.instance != key.instance.name; });
  }
  std::vector<double> values;
  for (const CheckedRow& row : rows) {
    const std::string why = unfit(row, key.rule, input.specification);
    if (!why.empty()) {
      reference.error = fmt::format("{}: {}: {}", reference.kind, row.instance, why);
    }
    append(values, row.values);
  }
  if (values.empty()) {
    reference.error =
        fmt::format("{} has no {} {} of {} on {} {}", reference.kind, name(key.rule.statistic),
                    name(key.rule.metric), format_bytes(key.size), key.set.id, key.instance.name);
  } else {
    reference.value = stats::median(values);
  }
  return reference;
}

/// What values of a rule are compared with; all must outlive what is returned.
ReferenceOf references_of(std::span<const SampleKey> keys, const JudgeInput& input,
                          const Ceilings& ceilings) {
  return [earlier = earlier_rows(keys.front(), input), &input, &ceilings](
             const SampleKey& key, const Sample& sample) -> Reference {
    if (key.rule.compare == RuleKind::Theoretical) return theoretical(key, sample, ceilings);
    if (key.rule.compare == RuleKind::Baseline) return of_baseline(key, earlier, input);
    return {.value = *key.rule.value, .kind = "absolute"};
  };
}

/// One collective and size, whose keys are of its instances; there is one.
PointResult judge_point(std::span<const SampleKey> keys, const JudgeInput& input,
                        const Ceilings& ceilings) {
  PointResult point;
  const ReferenceOf reference_of = references_of(keys, input, ceilings);
  if (keys.front().set.kind == SetKind::Pairwise) {
    return judge_pairwise(keys, input, reference_of);
  }
  for (const SampleKey& key : keys) {
    CheckedRow& row = point.rows.emplace_back(judge_sample(key, input));
    if (key.rule.compare == RuleKind::Fleet) continue;
    apply_reference(row, reference_of(key, row.sample));
    qualify(row, key.rule, input.specification);
  }
  if (keys.front().rule.compare == RuleKind::Fleet) judge_fleet(point, keys.front(), input);
  judge_failed_launches(
      point.rows, static_cast<std::size_t>(std::max(1, input.specification.run.min_launches)));
  return point;
}

template <class Item, class Same>
void add_unless(std::vector<Item>& items, const std::vector<Item>& more, const Same& same) {
  for (const Item& one : more) {
    const auto is_same = [&](const Item& known) { return same(known) == same(one); };
    static_cast<void>(find_or_add(items, is_same, one));
  }
}

void add_suspects(Screening& all, const Screening& more) {
  if (more.has_value.empty()) return;
  all.again = std::max(all.again, more.again);
  add_unless(all.nodes, more.nodes, [](const NodeFinding& one) { return one.node; });
  add_unless(all.units, more.units,
             [](const UnitFinding& one) { return std::pair(one.unit, one.other); });
  add_unless(all.links, more.links,
             [](const LinkFinding& one) { return pair_of(one.first, one.second); });
  if (all.has_value.empty()) all.has_value.assign(more.has_value.size(), true);
  for (std::size_t node = 0; node < more.has_value.size(); ++node) {
    all.has_value[node] = all.has_value[node] && more.has_value[node];
  }
}

}  // namespace

Screening suspects_to_repeat(const DeviceSetRule& set, const JudgeInput& input) {
  const auto instances = instances_of(set, input.nodes);
  const Ceilings ceilings = ceilings_of(input.specification.ceiling);
  Screening all;
  for (const Rule& rule : input.specification.rules) {
    if (rule.device_set != set.id) continue;
    for (const std::string& collective : rule.collectives) {
      for (const Bytes size : rule.sizes) {
        const auto keys = keys_of(rule, set, instances, collective, size);
        const ReferenceOf reference_of = references_of(keys, input, ceilings);
        add_suspects(all, judge_pairwise(keys, input, reference_of).to_repeat);
      }
    }
  }
  return all;
}

RuleResult judge_rule(const Rule& rule, const JudgeInput& input) {
  const Specification& specification = input.specification;
  RuleResult judged{.set = specification.device_set(rule.device_set)};
  const auto instances = instances_of(judged.set, input.nodes);
  if (instances.empty()) {  // what could not have been measured is an ERROR, never left out
    CheckedRow& row = judged.points.emplace_back().rows.emplace_back(
        blank_row(rule, {.name = "all"}, rule.collectives.front(), rule.sizes.front()));
    decide(row, Outcome::Error, "no data: the set has no nodes to measure on");
    return judged;
  }
  const Ceilings ceilings = ceilings_of(specification.ceiling);
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      const auto keys = keys_of(rule, judged.set, instances, collective, size);
      judged.points.push_back(judge_point(keys, input, ceilings));
    }
  }
  if (rule.known_issue) apply_known_issue(judged, *rule.known_issue, input.today);
  return judged;
}

}  // namespace busbar::judge
