// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet_rule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kFewest = 3;  // of two, it is unknown which is the odd one

/// Low must be bad: of times it is the rate, one over them, that is compared.
double as_rate(double value, Metric metric) { return metric == Metric::Time ? 1 / value : value; }

OutlierRule outlier_rule(const Expectation& rule) {
  double below = rule.bounds.fail_below.value_or(0);
  if (rule.metric == Metric::Time) {
    below = rule.bounds.fail_above ? 1 / *rule.bounds.fail_above : 0;
  }
  return {
      .fail_below = below, .min_robust_z = rule.min_robust_z, .max_fleet_mad = rule.max_fleet_mad};
}

/// What the fleet says of the rows that have values.
struct Judged {
  std::vector<CheckedRow*> rows{};
  FleetFinding finding{};
  std::string kind{};  ///< of the reference
};

/// "fleet median without h2": blamed nodes are in no reference of pairs.
std::string fleet_kind(const FleetFinding& finding, bool pairs,
                       std::span<const std::string> nodes) {
  std::string kind = finding.of_median ? "fleet median" : "fleet's 90th percentile";
  std::vector<std::string> blamed;
  for (const BlamedNode& node : finding.blame.nodes) blamed.push_back(nodes[node.node]);
  if (pairs && !blamed.empty()) kind += " without " + join(blamed, ", ");
  return kind;
}

Reference reference_of(const Judged& judged, Metric metric) {
  return {.value = as_rate(judged.finding.reference, metric), .kind = judged.kind};
}

Judged find(const std::vector<CheckedRow*>& rows, const Expectation& rule, bool pairs,
            std::span<const std::string> nodes) {
  Judged judged;
  for (CheckedRow* row : rows) {
    if (!row->decided) judged.rows.push_back(row);
  }
  if (judged.rows.size() < kFewest) return judged;
  const OutlierRule outlier = outlier_rule(rule);
  if (pairs) {
    const std::vector<const CheckedRow*> given(judged.rows.begin(), judged.rows.end());
    std::vector<PairValue> values = pair_values(given, nodes);
    for (PairValue& pair : values) pair.value = as_rate(*pair.value, rule.metric);
    judged.finding = judge_pairs(nodes.size(), values, outlier);
    judged.kind = fleet_kind(judged.finding, true, nodes);
    return judged;
  }
  std::vector<double> values;
  for (const CheckedRow* row : judged.rows) {
    values.push_back(as_rate(*row->verdict.value, rule.metric));
  }
  judged.finding = judge_members(values, outlier);
  judged.kind = fleet_kind(judged.finding, false, nodes);
  return judged;
}

/// The bounds of a value beside the outlier's: too good, and warnings; low is the finding's say.
void judge_one(CheckResult& verdict, const Judged& judged, bool low) {
  const FleetFinding& finding = judged.finding;
  const bool time = verdict.metric == Metric::Time;
  check_bounds(verdict, reference_of(judged, verdict.metric));
  const double z = finding.spread.robust_z(as_rate(*verdict.value, verdict.metric));
  const std::optional<double>& slow = time ? verdict.bounds.fail_above : verdict.bounds.fail_below;
  const bool missed = verdict.outcome == Outcome::Fail && slow &&
                      (time ? *verdict.ratio > *slow : *verdict.ratio < *slow);
  if (low) {
    if (verdict.outcome != Outcome::Error) verdict.outcome = Outcome::Fail;
    add_reason(verdict, finding.of_median
                            ? fmt::format("robust z {:.3g}", z)
                            : "against the 90th percentile, since the fleet is not homogeneous");
  } else if (missed) {
    const bool warns =
        time ? verdict.bounds.warn_above.has_value() : verdict.bounds.warn_below.has_value();
    verdict.outcome = warns ? Outcome::Warn : Outcome::Pass;
    add_reason(verdict, fmt::format("robust z {:.3g} is within the fleet's scatter", z));
  }
}

CheckedRow fleet_row(const Judged& judged, const std::vector<CheckedRow*>& rows,
                     const Expectation& rule, std::span<const std::string> nodes) {
  CheckedRow row;
  row.verdict = rows.front()->verdict;
  CheckResult& verdict = row.verdict;
  verdict.instance = kFleet;
  verdict.nodes.assign(nodes.begin(), nodes.end());
  verdict.values.clear();
  verdict.cv.reset();
  verdict.value.reset();
  verdict.bounds = {};
  verdict.cause = Cause::Other;
  verdict.unreachable.clear();
  if (judged.rows.size() < kFewest) {
    verdict.outcome = Outcome::Inconclusive;
    verdict.reason = fmt::format("{} with values: a fleet is three at least", judged.rows.size());
    return row;
  }
  const FleetSpread& spread = judged.finding.spread;
  const double scatter = spread.median > 0 ? spread.mad / spread.median : 0;
  for (const CheckedRow* one : judged.rows) verdict.values.push_back(*one->verdict.value);
  // What the instances are measured by; a percentile would be no middle of them.
  verdict.value =
      as_rate(judged.finding.of_median ? judged.finding.reference : spread.median, rule.metric);
  verdict.reference_kind = judged.kind;
  verdict.outcome = judged.finding.homogeneous ? Outcome::Pass : Outcome::Fail;
  if (judged.finding.homogeneous) return row;
  verdict.reason =
      scatter > rule.max_fleet_mad
          ? fmt::format("fleet not homogeneous: raw MAD/median {} above {}", percent_words(scatter),
                        percent_words(rule.max_fleet_mad))
          : fmt::format("fleet not homogeneous: its median {} is far below its 90th percentile {}",
                        value_words(as_rate(spread.median, rule.metric), rule.metric),
                        value_words(as_rate(judged.finding.top, rule.metric), rule.metric));
  return row;
}

/// A fleet with a row that is never a pass is none either.
void qualify_fleet(CheckedRow& fleet, const std::vector<CheckedRow*>& rows, const Expectation& rule,
                   const Specification& specification) {
  for (const CheckedRow* row : rows) {
    fleet.sample.simulated = fleet.sample.simulated || row->sample.simulated;
    fleet.sample.fake = fleet.sample.fake || row->sample.fake;
    fleet.sample.oversubscribed = fleet.sample.oversubscribed || row->sample.oversubscribed;
    fleet.sample.unchecked = fleet.sample.unchecked || row->sample.unchecked;
  }
  qualify(fleet, rule, specification);
}

/// One collective and size of all instances; returns what is said of all together.
CheckedRow judge_size(const std::vector<CheckedRow*>& rows, const Expectation& rule,
                      const Judged& judged, std::span<const std::string> nodes,
                      const Specification& specification) {
  CheckedRow fleet = fleet_row(judged, rows, rule, nodes);
  for (std::size_t i = 0; i < judged.rows.size(); ++i) {
    CheckedRow& row = *judged.rows[i];
    if (judged.rows.size() >= kFewest) {
      judge_one(row.verdict, judged, judged.finding.low[i]);
      continue;
    }
    row.verdict.outcome = Outcome::Inconclusive;
    row.verdict.reason = fleet.verdict.reason;
  }
  if (judged.rows.size() >= kFewest) {
    for (CheckedRow* row : rows) {
      if (row->decided) show_reference(*row, reference_of(judged, rule.metric));
    }
  }
  for (CheckedRow* row : rows) qualify(*row, rule, specification);
  qualify_fleet(fleet, rows, rule, specification);
  return fleet;
}

std::vector<CheckedRow*> rows_of(std::vector<CheckedRow>& rows, const std::string& collective,
                                 Bytes size) {
  std::vector<CheckedRow*> same;
  for (CheckedRow& row : rows) {
    const CheckResult& v = row.verdict;
    if (v.collective == collective && v.size == size) same.push_back(&row);
  }
  return same;
}

std::vector<CheckedRow> sampled_rows(const Expectation& rule, const DeviceSetRule& set,
                                     std::span<const Instance> instances,
                                     const ReferenceInput& input) {
  std::vector<CheckedRow> rows;
  for (const Instance& instance : instances) {
    for (const std::string& collective : rule.collectives) {
      for (const Bytes size : rule.sizes) {
        rows.push_back(judge_sample({rule, set, instance, collective, size}, input));
      }
    }
  }
  return rows;
}

}  // namespace

std::vector<PairValue> pair_values(std::span<const CheckedRow* const> rows,
                                   std::span<const std::string> nodes) {
  const auto place = [&](const std::string& node) {
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  std::vector<PairValue> pairs;
  for (const CheckedRow* row : rows) {
    const CheckResult& verdict = row->verdict;
    pairs.push_back({.first = place(verdict.nodes.at(0)),
                     .second = place(verdict.nodes.at(1)),
                     .value = verdict.value});
  }
  return pairs;
}

FleetResult judge_fleet_rule(const Expectation& rule, std::span<const Instance> instances,
                             std::span<const std::string> nodes, const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  const bool pairs = set.kind == SetKind::Pairwise && !is_bisected(set, nodes.size());
  FleetResult verdicts{.rows = sampled_rows(rule, set, instances, input)};
  std::vector<CheckedRow> fleets;
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      const std::vector<CheckedRow*> same = rows_of(verdicts.rows, collective, size);
      if (same.empty()) continue;
      const Judged judged = find(same, rule, pairs, nodes);
      fleets.push_back(judge_size(same, rule, judged, nodes, input.specification));
      verdicts.blames.push_back({.collective = collective,
                                 .size = size,
                                 .blame = judged.finding.blame,
                                 .median = judged.finding.spread.median});
    }
  }
  verdicts.rows.insert(verdicts.rows.end(), fleets.begin(), fleets.end());
  return verdicts;
}

}  // namespace busbar::judge
