// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/fleet_rule.hpp"
#include "judge/spec/ceiling.hpp"
#include "model/collective.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {

std::string value_text(double value, Metric metric) {
  return fmt::format("{:.4g} {}", value, unit(metric));
}

std::string percent_text(double share) {
  const double percent = share * 100;
  return std::abs(percent) >= 999.5 ? fmt::format("{:.0f} %", percent)
                                    : fmt::format("{:.3g} %", percent);
}

double as_rate(double value, Metric metric) { return metric == Metric::Time ? 1 / value : value; }

CheckedRow blank_row(const Rule& rule, const Instance& instance, const std::string& collective,
                     Bytes size) {
  return {{.rule = rule.id,
           .device_set = rule.device_set,
           .instance = instance.name,
           .nodes = instance.nodes,
           .collective = collective,
           .type = rule.type,
           .size = size,
           .metric = rule.metric,
           .statistic = rule.statistic,
           .bounds = rule.bounds}};
}

void add_reason(CheckResult& result, const std::string& more) {
  if (!result.reason.empty() && !more.empty()) result.reason += "; ";
  result.reason += more;
}

std::string noise_text(const CheckResult& result, const Rule& rule,
                       const Specification& specification) {
  const double most = rule.max_cv.value_or(specification.noise.max_cv);
  const bool noisy = result.cv && *result.cv > most;
  return !noisy ? ""
                : fmt::format("noisy: cv {} over {} is above {}", percent_text(*result.cv),
                              counted(result.values.size(), "launch"), percent_text(most));
}

std::optional<Flaw> flaw_of(const Sample& sample, const Specification& specification) {
  const RunContract& run = specification.run;
  for (auto flaw = sample.flaws.rbegin(); flaw != sample.flaws.rend(); ++flaw) {
    const bool permitted = (*flaw == Flaw::Unchecked && !run.check_data) ||
                           (*flaw == Flaw::SameMachine && run.same_machine);
    if (!permitted) return *flaw;
  }
  return {};
}

// ---- before bounds ----------------------------------------------------------------------------

namespace {

void decide(CheckedRow& row, Outcome outcome, std::string reason,
            DecidedBy decided_by = DecidedBy::Other) {
  row.decided = true;
  row.outcome = outcome;
  row.decided_by = decided_by;
  row.reason = std::move(reason);
}

}  // namespace

void decide_absent(CheckedRow& row, const std::string& why, bool partial) {
  decide(row, partial ? Outcome::Skip : Outcome::Error,
         partial ? "not measured in these files: " + why : why);
}

namespace {

/// The first failure, whose node the result then names.
const std::string& first_failure(CheckedRow& row) {
  const LaunchFailure& failure = row.sample.failures.front();
  row.unreachable = failure.unreachable;
  return failure.reason;
}

/// "2 of 5 launches produced no data: timeout after 120 s"; empty if all produced data.
std::string failed_launches(CheckedRow& row) {
  const std::size_t failed = row.sample.failures.size();
  if (failed == 0) return {};
  return fmt::format("{} of {} produced no data: {}", failed,
                     counted(failed + row.sample.values.size(), "launch"), first_failure(row));
}

/// Wrong data, no data, not applicable.
void judge_presence(CheckedRow& row, bool partial) {
  const Sample& sample = row.sample;
  if (!sample.wrong.empty()) {
    decide(row, Outcome::Fail, "wrong data: " + join(sample.wrong, "; "), DecidedBy::WrongData);
  } else if (!sample.errors.empty()) {
    decide(row, Outcome::Error, join(sample.errors, "; "));
  } else if (!sample.values.empty()) {
    return;
  } else if (!sample.failures.empty()) {
    const bool absent = sample.failures.front().absent;
    decide_absent(row, first_failure(row), partial && absent);
  } else if (sample.skipped_one_rank) {
    decide(row, Outcome::Skip, "one rank: nothing crosses a bus, so it has no bus bandwidth");
  } else {
    decide_absent(row, "no data", partial);
  }
}

void judge_noise(CheckedRow& row, const Rule& rule, const Specification& specification) {
  const std::size_t valid = row.values.size();
  if (const auto least = specification.run.min_launches; static_cast<int>(valid) < least) {
    const std::string failed = failed_launches(row);
    decide(row, Outcome::Inconclusive,
           fmt::format("{} where {} are needed", counted(valid, "launch"), least),
           DecidedBy::TooFewLaunches);
    return add_reason(row, failed);
  }
  std::string noise = noise_text(row, rule, specification);
  if (!noise.empty() && specification.noise.on_noisy != OnNoisy::Warn) {
    decide(row, Outcome::Inconclusive, std::move(noise), DecidedBy::Noisy);
  }
}

}  // namespace

CheckedRow judge_sample(const SampleKey& key, const JudgeInput& input) {
  CheckedRow row = blank_row(key.rule, key.instance, key.collective, key.size);
  row.sample = gather(key, input.observations, input.specification.noise.decide);
  row.values = row.sample.values;
  row.attempts = row.sample.attempts;
  if (!row.values.empty()) row.value = stats::median(row.values);
  row.cv = variation_of(row.values);
  if (input.partial && row.value) {  // another log of the same nodes is not a failed launch
    std::erase_if(row.sample.failures, [](const LaunchFailure& one) { return one.absent; });
  }
  judge_presence(row, input.partial);
  if (!row.decided) judge_noise(row, key.rule, input.specification);
  return row;
}

// ---- bounds -----------------------------------------------------------------------------------

namespace {

/// A bound that a ratio misses: the outcome, and on which side.
struct Miss {
  Outcome outcome = Outcome::Pass;
  bool above = false;
  double bound = 0;
};

Miss miss_of(const Bounds& bounds, double ratio) {
  const auto below = [&](const std::optional<double>& bound) { return bound && ratio < *bound; };
  const auto above = [&](const std::optional<double>& bound) { return bound && ratio > *bound; };
  if (below(bounds.fail_below)) return {Outcome::Fail, false, *bounds.fail_below};
  if (above(bounds.fail_above)) return {Outcome::Fail, true, *bounds.fail_above};
  if (below(bounds.warn_below)) return {Outcome::Warn, false, *bounds.warn_below};
  if (above(bounds.warn_above)) return {Outcome::Warn, true, *bounds.warn_above};
  return {};
}

bool has_any(const Bounds& bounds) {
  return bounds.fail_below || bounds.warn_below || bounds.warn_above || bounds.fail_above;
}

void check_bounds(CheckResult& result, const Reference& reference) {
  result.reference_kind = reference.kind;
  result.outcome = Outcome::Error;
  if (!reference.error.empty()) {
    result.reason = reference.error;
    return;
  }
  if (!std::isfinite(reference.value) || reference.value <= 0) {
    result.reason = fmt::format("the reference ({}) is {:g}: not a number to judge by",
                                reference.kind, reference.value);
    return;
  }
  result.reference = reference.value;
  if (!has_any(result.bounds)) {
    result.reason = "the rule has no bound, so it could never fail";
    return;
  }
  result.ratio = *result.value / reference.value;
  const Miss miss = miss_of(result.bounds, *result.ratio);
  result.outcome = miss.outcome;
  if (miss.outcome == Outcome::Pass) return;
  const bool fast = miss.above != (result.metric == Metric::Time);
  if (miss.outcome == Outcome::Fail && fast) result.decided_by = DecidedBy::TooGood;
  result.reason = fmt::format("{}{} is {} of {}, {} {}",
                              result.decided_by == DecidedBy::TooGood ? "too good: " : "",
                              value_text(*result.value, result.metric), percent_text(*result.ratio),
                              value_text(reference.value, result.metric),
                              miss.above ? "above" : "below", percent_text(miss.bound));
}

}  // namespace

void apply_reference(CheckedRow& row, const Reference& reference) {
  if (!row.decided) return check_bounds(row, reference);
  if (!reference.error.empty() || row.outcome == Outcome::Skip) return;
  row.reference_kind = reference.kind;
  if (!row.value || row.wrong_data()) {  // the rate of wrong data is not compared
    row.reference = reference.value;
    return;
  }
  CheckResult bounded = row;
  bounded.reason.clear();
  check_bounds(bounded, reference);
  row.reference = bounded.reference;
  row.ratio = bounded.ratio;
  if (row.decided_by != DecidedBy::TooFewLaunches || !bounded.ratio) return;
  if (bounded.outcome == Outcome::Pass) {
    bounded.reason =
        fmt::format("{} is {} of {}, within the bounds", value_text(*row.value, row.metric),
                    percent_text(*bounded.ratio), value_text(*bounded.reference, row.metric));
  }
  add_reason(row, bounded.reason);
}

// ---- after bounds -----------------------------------------------------------------------------

namespace {

void add_two_groups(CheckedRow& row) {
  if (const auto groups = two_groups_of(row.values)) {
    const std::string low = counted(groups->low, row.of_fleet() ? "instance" : "launch");
    add_reason(row, fmt::format("bimodal: {} at {} and {} at {}", low,
                                value_text(groups->low_middle, row.metric), groups->high,
                                value_text(groups->high_middle, row.metric)));
  } else if (row.sample.two_levels) {
    add_reason(row, "bimodal: the times of a launch have two levels");
  }
}

/// A pass is at most `outcome`, for the reason; an empty reason changes nothing.
void lessen(CheckedRow& row, std::string_view reason, Outcome outcome) {
  if (reason.empty()) return;
  row.outcome = std::max(row.outcome, outcome);
  add_reason(row, std::string(reason));
}

}  // namespace

void qualify(CheckedRow& row, const Rule& rule, const Specification& specification) {
  if (!row.decided) {
    lessen(row, failed_launches(row), Outcome::Warn);
    lessen(row, noise_text(row, rule, specification), Outcome::Warn);
    if (const auto flaw = flaw_of(row.sample, specification)) {
      const bool never = *flaw >= Flaw::Fake;  // what is not measured is not a failure either
      if (never && row.outcome == Outcome::Fail) row.outcome = Outcome::Inconclusive;
      lessen(row, name(*flaw), Outcome::Inconclusive);
    }
  }
  add_two_groups(row);
}

namespace {

/// Where a curve has more misses than are allowed, all of them stay.
void allow_misses(RuleResult& judged) {
  if (judged.rule.allow_misses <= 0) return;
  using CurveName = std::pair<std::string, std::string>;  // instance and collective
  std::map<CurveName, int> misses;
  judged.each([&](const CheckedRow& row) {
    if (row.outcome == Outcome::Fail) ++misses[{row.instance, row.collective}];
  });
  judged.each([&](CheckedRow& row) {
    const int count = misses[{row.instance, row.collective}];
    const bool stays = row.outcome != Outcome::Fail || row.wrong_data();
    if (stays || count > judged.rule.allow_misses) return;
    row.outcome = Outcome::Warn;
    add_reason(
        row, fmt::format("{} of {} allowed misses of this curve", count, judged.rule.allow_misses));
  });
}

void apply_known_issue(CheckedRow& row, const KnownIssue& issue, const std::string& today) {
  const bool expected = today <= issue.until;  // ISO dates sort as text; that day is in it
  if (row.outcome == Outcome::Fail && !row.wrong_data()) {
    if (expected) row.outcome = Outcome::Known;
    add_reason(row, fmt::format("{}: {} ({} {})", expected ? "known" : "known issue is over",
                                issue.reason, expected ? "until" : "it was until", issue.until));
  } else if (row.outcome == Outcome::Pass && expected) {
    row.outcome = Outcome::Warn;
    add_reason(row, "passes although known to fail: " + issue.reason);
  }
}

/// A ceiling of bus bandwidth in the metric's own unit.
Reference in_metric(double value, std::string kind, const SampleKey& key) {
  if (key.rule.metric != Metric::BusBandwidth) {
    const Collective* known = find_collective(key.collective);
    if (known == nullptr) return {.error = "no bus factor is known of " + key.collective};
    value /= known->bus_factor(key.shape().ranks);
  }
  if (key.rule.metric == Metric::Time) value = static_cast<double>(key.size) / (value * 1e3);
  return {.value = value, .kind = std::move(kind)};
}

Reference theoretical(const SampleKey& key, const Sample& sample, CeilingTable& ceilings) {
  if (const auto figure = ceilings.of(key.collective, key.shape())) {
    return in_metric(figure->GBps, "ceiling: " + figure->text, key);
  }
  if (sample.bound_GBps) {
    return in_metric(*sample.bound_GBps,
                     fmt::format("ceiling: the rows' own bound, {:.4g} GB/s", *sample.bound_GBps),
                     key);
  }
  return {.kind = "ceiling",
          .error = "no ceiling is known: neither [ceiling] nor column bound_GBps has one"};
}

/// A baseline's fact: of this device set where it has one, else of all.
std::optional<std::string> baseline_fact(const Baseline& baseline, const std::string& key,
                                         const std::string& set) {
  for (const std::string& name : {fmt::format("{}.{}", key, set), key}) {
    const auto found = baseline.facts.find(name);
    if (found != baseline.facts.end() && !found->second.empty()) return found->second;
  }
  return {};
}

/// Why a launch is not comparable with the baseline, or empty.
std::string mismatch(const Observation& launch, const std::string& fact, const SampleKey& key,
                     const JudgeInput& input) {
  const std::string& file = input.baseline->file;
  const auto reported = study::fact_of(launch.view(), fact, input.assumed);
  const auto wanted = baseline_fact(*input.baseline, fact, key.set.id);
  // A row of the same device set was found already; only texts that both have can contradict.
  if (fact == busbar::key(fact::kDeviceSet) && (!wanted || !reported)) return {};
  if (!wanted) return fmt::format("baseline {} does not report {}", file, fact);
  if (!reported) return "baseline: " + study::unreported_text(launch.view(), fact);
  if (*reported == *wanted) return {};
  return fmt::format("baseline {} is of {} '{}', this is '{}'", file, fact, *wanted, *reported);
}

std::string mismatches(const SampleKey& key, const JudgeInput& input) {
  if (!input.specification.baseline) return {};
  for (const Observation& launch : input.observations) {
    if (!belongs_to(launch, key.set, key.instance) || launch.records.empty()) continue;
    for (const std::string& fact : input.specification.baseline->must_match) {
      if (std::string why = mismatch(launch, fact, key, input); !why.empty()) return why;
    }
  }
  return {};
}

const BaselineRow* row_of(const Baseline& baseline, const SampleKey& key) {
  const Rule& rule = key.rule;
  BaselineKey wanted{rule.device_set, key.instance.name, key.collective, rule.type,
                     key.size,        rule.metric,       rule.statistic};
  const BaselineRow* row = baseline.find(wanted);
  if (row != nullptr) return row;
  wanted.instance.clear();
  return baseline.find(wanted);
}

Reference of_baseline(const SampleKey& key, const JudgeInput& input) {
  if (input.baseline == nullptr) return {.kind = "baseline", .error = "there is no baseline"};
  const Baseline& baseline = *input.baseline;
  Reference reference{.kind = "baseline of " + baseline.made_on};
  const BaselineRow* row = row_of(baseline, key);
  if (row == nullptr) {
    reference.error = fmt::format("baseline {} has no {} {} of {} on {} {}", baseline.file,
                                  name(key.rule.statistic), name(key.rule.metric),
                                  format_bytes(key.size), key.set.id, key.instance.name);
    return reference;
  }
  reference.value = row->median;
  reference.error = mismatches(key, input);
  if (!reference.error.empty()) return reference;
  const int age = days_between(baseline.made_on, input.today);
  const int most = input.specification.baseline ? input.specification.baseline->max_age_days : 0;
  if (age < 0) reference.error = "the baseline is dated in the future: " + baseline.made_on;
  if (most > 0 && age > most) {
    reference.error = fmt::format("stale: the baseline of {} is {} days old, {} are allowed",
                                  baseline.made_on, age, most);
  }
  return reference;
}

/// The reference of a rule other than a fleet rule, or why it has none.
Reference reference_of(const SampleKey& key, const Sample& sample, const JudgeInput& input,
                       CeilingTable& ceilings) {
  if (key.rule.compare == RuleKind::Theoretical) return theoretical(key, sample, ceilings);
  if (key.rule.compare == RuleKind::Baseline) return of_baseline(key, input);
  if (!key.rule.value) return {.kind = "absolute", .error = "the rule has no value"};
  return {.value = *key.rule.value, .kind = "absolute"};
}

/// One collective and size, whose keys are of its instances.
PointResult judge_point(std::span<const SampleKey> keys, const JudgeInput& input,
                        CeilingTable& ceilings) {
  PointResult point;
  for (const SampleKey& key : keys) {
    CheckedRow& row = point.rows.emplace_back(judge_sample(key, input));
    if (key.rule.compare == RuleKind::Fleet) continue;
    apply_reference(row, reference_of(key, row.sample, input, ceilings));
    qualify(row, key.rule, input.specification);
  }
  const bool fleet = !keys.empty() && keys.front().rule.compare == RuleKind::Fleet;
  if (fleet) judge_fleet(point, keys.front(), input);
  return point;
}

/// What could not have been measured: an ERROR each, never left out.
void add_unmeasured(RuleResult& judged, std::span<const Instance> instances,
                    const JudgeInput& input) {
  const std::vector<std::string>& nodes = input.nodes;
  const Rule& rule = judged.rule;
  const auto add = [&](const Instance& instance, const std::string& why) {
    judged.unmeasured.push_back(
        blank_row(rule, instance, rule.collectives.front(), rule.sizes.front()));
    decide_absent(judged.unmeasured.back(), "no data: " + why, input.partial);
  };
  if (is_bisected(judged.set, nodes.size())) {
    for (const std::string& node : nodes) {
      const bool seen = std::ranges::any_of(
          instances, [&](const Instance& one) { return has_node(one.nodes, node); });
      if (!seen) add({.name = node, .nodes = {node}}, "no group has this node");
    }
  } else if (instances.empty()) {
    add({.name = "all"}, "the set has no nodes to measure on");
  }
}

}  // namespace

RuleResult judge_rule(const Rule& rule, const JudgeInput& input) {
  const Specification& specification = input.specification;
  RuleResult judged{.rule = rule, .set = specification.device_set(rule.device_set)};
  const auto instances = instances_of(judged.set, input.nodes, input.observations);
  CeilingTable ceilings(specification.ceiling);
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      const auto keys = keys_of(rule, judged.set, instances, collective, size);
      judged.points.push_back(judge_point(keys, input, ceilings));
    }
  }
  add_unmeasured(judged, instances, input);
  allow_misses(judged);
  if (rule.known_issue) {
    judged.each([&](CheckedRow& row) { apply_known_issue(row, *rule.known_issue, input.today); });
  }
  return judged;
}

}  // namespace busbar::judge
