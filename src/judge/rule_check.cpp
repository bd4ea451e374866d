// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/run_facts.hpp"
#include "judge/sample.hpp"
#include "model/collective.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
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

bool is_usable(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::string value_words(double value, Metric metric) {
  return fmt::format("{:.4g} {}", value, unit(metric));
}

std::string percent_words(double share) {
  const double percent = share * 100;
  return std::abs(percent) >= 999.5 ? fmt::format("{:.0f} %", percent)
                                    : fmt::format("{:.3g} %", percent);
}

CheckResult blank_result(const Expectation& rule, const Instance& instance,
                         const std::string& collective, Bytes size) {
  return {.rule = rule.id,
          .device_set = rule.device_set,
          .instance = instance.name,
          .nodes = instance.nodes,
          .collective = collective,
          .type = rule.type,
          .size = size,
          .metric = rule.metric,
          .statistic = rule.statistic,
          .bounds = rule.bounds};
}

void check_bounds(CheckResult& verdict, const Reference& reference) {
  verdict.reference_kind = reference.kind;
  verdict.outcome = Outcome::Error;
  if (!reference.error.empty()) {
    verdict.reason = reference.error;
    return;
  }
  if (!is_usable(reference.value)) {
    verdict.reason = fmt::format("the reference ({}) is {:g}: not a number to judge by",
                                 reference.kind, reference.value);
    return;
  }
  verdict.reference = reference.value;
  if (!has_any(verdict.bounds)) {
    verdict.reason = "the rule has no bound, so it could never fail";
    return;
  }
  const double ratio = *verdict.value / reference.value;
  verdict.ratio = ratio;
  const Miss miss = miss_of(verdict.bounds, ratio);
  verdict.outcome = miss.outcome;
  if (miss.outcome == Outcome::Pass) return;
  const bool fast = miss.above != (verdict.metric == Metric::Time);
  if (miss.outcome == Outcome::Fail && fast) verdict.cause = Cause::TooGood;
  verdict.reason =
      fmt::format("{}{} is {} of {}, {} {}", verdict.cause == Cause::TooGood ? "too good: " : "",
                  value_words(*verdict.value, verdict.metric), percent_words(ratio),
                  value_words(reference.value, verdict.metric), miss.above ? "above" : "below",
                  percent_words(miss.bound));
}

void add_reason(CheckResult& verdict, const std::string& more) {
  if (!verdict.reason.empty()) verdict.reason += "; ";
  verdict.reason += more;
}

namespace {

double max_cv(const Expectation& rule, const Specification& specification) {
  return rule.max_cv.value_or(specification.noise.max_cv);
}

void decide(CheckedRow& row, Outcome outcome, std::string reason, Cause cause = Cause::Other) {
  row.decided = true;
  row.verdict.outcome = outcome;
  row.verdict.cause = cause;
  row.verdict.reason = std::move(reason);
}

std::string launch_count(std::size_t count) {
  return count == 1 ? "1 launch" : fmt::format("{} launches", count);
}

/// The first failure, whose node the verdict then names.
const std::string& first_failure(CheckedRow& row) {
  const LaunchFailure& failure = row.sample.failures.front();
  row.verdict.unreachable = failure.unreachable;
  return failure.reason;
}

/// "2 of 5 launches gave nothing: timeout after 120 s"; empty where all gave something.
std::string failed_launches(CheckedRow& row) {
  const std::size_t failed = row.sample.failures.size();
  if (failed == 0) return {};
  return fmt::format("{} of {} gave nothing: {}", failed,
                     launch_count(failed + row.sample.values.size()), first_failure(row));
}

std::string noise_words(const CheckResult& verdict, double most) {
  return fmt::format("noisy: cv {} over {} is above {}", percent_words(*verdict.cv),
                     launch_count(verdict.values.size()), percent_words(most));
}

/// Wrong data, no data, not applicable.
void judge_presence(CheckedRow& row) {
  const Sample& sample = row.sample;
  if (!sample.wrong.empty()) {
    return decide(row, Outcome::Fail, join(sample.wrong, "; "), Cause::WrongData);
  }
  if (!sample.errors.empty()) return decide(row, Outcome::Error, join(sample.errors, "; "));
  if (!sample.values.empty()) return;
  if (sample.skipped_one_rank && sample.failures.empty()) {
    return decide(row, Outcome::Skip,
                  "one rank: nothing crosses a bus, so it has no bus bandwidth");
  }
  decide(row, Outcome::Error, sample.failures.empty() ? "no data" : first_failure(row));
}

void judge_noise(CheckedRow& row, const Expectation& rule, const Specification& specification) {
  const std::size_t valid = row.sample.values.size();
  if (const auto least = specification.run.min_launches; static_cast<int>(valid) < least) {
    std::string reason = fmt::format("{} where {} are needed", launch_count(valid), least);
    if (const std::string failed = failed_launches(row); !failed.empty()) reason += "; " + failed;
    return decide(row, Outcome::Inconclusive, reason, Cause::TooFewLaunches);
  }
  const double most = max_cv(rule, specification);
  const bool noisy = row.verdict.cv && *row.verdict.cv > most;
  if (noisy && specification.noise.on_noisy != OnNoisy::Warn) {
    decide(row, Outcome::Inconclusive, noise_words(row.verdict, most), Cause::Noisy);
  }
}

void add_two_groups(CheckedRow& row) {
  CheckResult& verdict = row.verdict;
  if (const auto groups = two_groups_of(verdict.values)) {
    const std::string low =
        verdict.of_fleet() ? counted(groups->low, "instance") : launch_count(groups->low);
    add_reason(verdict, fmt::format("bimodal: {} at {} and {} at {}", low,
                                    value_words(groups->low_middle, verdict.metric), groups->high,
                                    value_words(groups->high_middle, verdict.metric)));
  } else if (row.sample.two_levels) {
    add_reason(verdict, "bimodal: the times of a launch have two levels");
  }
}

/// Rows that are never a pass; why, or empty.
std::string no_pass(const Sample& sample, bool check_data) {
  if (sample.simulated) return "simulated: predicted, not measured";
  if (sample.fake) return "fake: measured on no real GPU";
  if (sample.oversubscribed) return "oversubscribed: ranks shared processors";
  if (check_data && sample.unchecked) return "data were not checked";
  return {};
}

/// A pass is at most `outcome`, for the reason; an empty reason changes nothing.
void lessen(CheckedRow& row, const std::string& reason, Outcome outcome) {
  if (reason.empty()) return;
  CheckResult& verdict = row.verdict;
  if (verdict.outcome < outcome && verdict.outcome != Outcome::Skip) verdict.outcome = outcome;
  add_reason(row.verdict, reason);
}

std::string warned_noise(const CheckedRow& row, const Expectation& rule,
                         const Specification& specification) {
  const double most = max_cv(rule, specification);
  return row.verdict.cv && *row.verdict.cv > most ? noise_words(row.verdict, most) : "";
}

}  // namespace

CheckedRow judge_sample(const SampleKey& key, const ReferenceInput& input) {
  CheckedRow row{.sample = gather(key, input.observations, input.specification.noise.decide)};
  CheckResult& verdict = row.verdict;
  verdict = blank_result(key.rule, key.instance, key.collective, key.size);
  verdict.values = row.sample.values;
  verdict.attempts = row.sample.attempts;
  if (!verdict.values.empty()) verdict.value = stats::median(verdict.values);
  verdict.cv = variation_of(verdict.values);
  judge_presence(row);
  if (!row.decided) judge_noise(row, key.rule, input.specification);
  return row;
}

void show_reference(CheckedRow& row, const Reference& reference) {
  CheckResult& verdict = row.verdict;
  if (!reference.error.empty() || verdict.outcome == Outcome::Skip) return;
  if (!verdict.value) {
    verdict.reference_kind = reference.kind;
    verdict.reference = reference.value;
    return;
  }
  CheckResult bounded = verdict;
  bounded.reason.clear();
  check_bounds(bounded, reference);
  verdict.reference_kind = bounded.reference_kind;
  verdict.reference = bounded.reference;
  verdict.ratio = bounded.ratio;
  if (verdict.cause != Cause::TooFewLaunches || !bounded.ratio) return;
  if (bounded.outcome == Outcome::Pass) {
    bounded.reason = fmt::format(
        "{} is {} of {}, within the bounds", value_words(*verdict.value, verdict.metric),
        percent_words(*bounded.ratio), value_words(*bounded.reference, verdict.metric));
  }
  add_reason(verdict, bounded.reason);
}

void qualify(CheckedRow& row, const Expectation& rule, const Specification& specification) {
  if (!row.decided) {
    lessen(row, failed_launches(row), Outcome::Warn);
    lessen(row, warned_noise(row, rule, specification), Outcome::Warn);
    const std::string why = no_pass(row.sample, specification.run.check_data);
    const bool never = row.sample.simulated || row.sample.fake;
    if (never && row.verdict.outcome == Outcome::Fail) row.verdict.outcome = Outcome::Inconclusive;
    lessen(row, why, Outcome::Inconclusive);
  }
  if (row.verdict.values.size() > 1 || row.sample.two_levels) add_two_groups(row);
}

std::vector<CheckedRow> judge_rule(const Expectation& rule, std::span<const Instance> instances,
                                   const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  std::vector<CheckedRow> rows;
  for (const Instance& instance : instances) {
    for (const std::string& collective : rule.collectives) {
      for (const Bytes size : rule.sizes) {
        const SampleKey key{rule, set, instance, collective, size};
        CheckedRow row = judge_sample(key, input);
        const Reference reference = reference_of(key, row.sample, input);
        if (row.decided) {
          show_reference(row, reference);
        } else {
          check_bounds(row.verdict, reference);
        }
        qualify(row, rule, input.specification);
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

namespace {

using CurveName = std::pair<std::string, std::string>;  // instance and collective

CurveName curve_of(const CheckResult& verdict) { return {verdict.instance, verdict.collective}; }

bool may_be_waived(const CheckedRow& row) {
  return row.verdict.outcome == Outcome::Fail && !row.wrong_data() && !row.verdict.of_fleet();
}

/// Where a curve has more misses than are allowed, all of them stay.
void allow_misses(std::vector<CheckedRow>& rows, int allowed) {
  if (allowed <= 0) return;
  std::map<CurveName, int> misses;
  for (const CheckedRow& row : rows) {
    if (row.verdict.outcome == Outcome::Fail) ++misses[curve_of(row.verdict)];
  }
  for (CheckedRow& row : rows) {
    const int count = misses[curve_of(row.verdict)];
    if (!may_be_waived(row) || count > allowed) continue;
    row.verdict.outcome = Outcome::Warn;
    add_reason(row.verdict, fmt::format("{} of {} allowed misses of this curve", count, allowed));
  }
}

void apply_known_issue(CheckedRow& row, const KnownIssue& issue, const std::string& today) {
  CheckResult& verdict = row.verdict;
  const bool expected = today <= issue.until;  // ISO dates sort as text; that day is in it
  if (verdict.outcome == Outcome::Fail && !row.wrong_data()) {
    if (expected) verdict.outcome = Outcome::Known;
    add_reason(verdict,
               fmt::format("{}: {} ({} {})", expected ? "known" : "known issue is over",
                           issue.reason, expected ? "until" : "it was until", issue.until));
  } else if (verdict.outcome == Outcome::Pass && expected) {
    verdict.outcome = Outcome::Warn;
    add_reason(verdict, "passes although known to fail: " + issue.reason);
  }
}

}  // namespace

void apply_waivers(std::vector<CheckedRow>& rows, const Expectation& rule,
                   const std::string& today) {
  allow_misses(rows, rule.allow_misses);
  if (!rule.known_issue) return;
  for (CheckedRow& row : rows) apply_known_issue(row, *rule.known_issue, today);
}

namespace {

/// A ceiling of bus bandwidth in the metric's own unit.
Reference in_metric(double bus_GBps, std::string kind, const SampleKey& key) {
  if (key.rule.metric == Metric::BusBandwidth) return {.value = bus_GBps, .kind = std::move(kind)};
  const Collective* known = find_collective(key.collective);
  if (known == nullptr) return {.error = "no bus factor is known of " + key.collective};
  const double algorithm = bus_GBps / known->bus_factor(ranks_of(key.set, key.instance));
  if (key.rule.metric == Metric::AlgorithmBandwidth) {
    return {.value = algorithm, .kind = std::move(kind)};
  }
  constexpr double kBytesPerMicrosecond = 1e3;  // of 1 GB/s
  return {.value = static_cast<double>(key.size) / (algorithm * kBytesPerMicrosecond),
          .kind = std::move(kind)};
}

Reference theoretical(const SampleKey& key, const Sample& sample, const ReferenceInput& input) {
  const SetShape shape{.ranks = ranks_of(key.set, key.instance),
                       .nodes = static_cast<int>(key.instance.nodes.size()),
                       .gpus = key.set.gpus};
  if (const auto figure = input.ceilings.of(key.collective, shape)) {
    return in_metric(figure->GBps, "ceiling: " + figure->words, key);
  }
  if (sample.bounds_GBps.empty()) {
    return {.kind = "ceiling",
            .error = "no ceiling is known: neither [ceiling] nor column bound_GBps has one"};
  }
  const double least = *std::min_element(sample.bounds_GBps.begin(), sample.bounds_GBps.end());
  return in_metric(least, fmt::format("ceiling: the rows' own bound, {:.4g} GB/s", least), key);
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
                     const ReferenceInput& input) {
  std::optional<std::string> reported = fact_of(launch, fact);
  const auto known = input.assumed.find(fact);
  if (!reported && known != input.assumed.end()) reported = known->second;
  const auto wanted = baseline_fact(*input.baseline, fact, key.set.id);
  // A row of the same device set was found already; only words that both have can contradict.
  if (fact == "device_set" && (!wanted || !reported)) return {};
  if (!wanted) return fmt::format("baseline {} does not report {}", input.baseline->file, fact);
  if (!reported) {
    return fmt::format("baseline: {} does not report {} (--assume {}=VALUE where you know it)",
                       launch.file.empty() ? "a launch" : launch.file, fact, fact);
  }
  if (*reported == *wanted) return {};
  return fmt::format("baseline {} is of {} '{}', this is '{}'", input.baseline->file, fact, *wanted,
                     *reported);
}

std::string mismatches(const SampleKey& key, const ReferenceInput& input) {
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
  const Expectation& rule = key.rule;
  BaselineKey wanted{rule.device_set, key.instance.name, key.collective, rule.type,
                     key.size,        rule.metric,       rule.statistic};
  const BaselineRow* row = baseline.find(wanted);
  if (row != nullptr) return row;
  wanted.instance.clear();
  return baseline.find(wanted);
}

Reference of_baseline(const SampleKey& key, const ReferenceInput& input) {
  if (input.baseline == nullptr) return {.kind = "baseline", .error = "there is no baseline"};
  const Baseline& baseline = *input.baseline;
  const std::string kind = "baseline of " + baseline.made_on;
  const BaselineRow* row = row_of(baseline, key);
  if (row == nullptr) {
    return {.kind = kind,
            .error = fmt::format("baseline {} has no {} {} of {} on {} {}", baseline.file,
                                 name(key.rule.statistic), name(key.rule.metric),
                                 format_bytes(key.size), key.set.id, key.instance.name)};
  }
  if (std::string why = mismatches(key, input); !why.empty()) return {.kind = kind, .error = why};
  const int age = days_between(baseline.made_on, input.today);
  const int most = input.specification.baseline ? input.specification.baseline->max_age_days : 0;
  if (age < 0) return {.kind = kind, .error = "the baseline is of the future: " + baseline.made_on};
  if (most > 0 && age > most) {
    return {.kind = kind,
            .error = fmt::format("stale: the baseline of {} is {} days old, {} are allowed",
                                 baseline.made_on, age, most)};
  }
  return {.value = row->median, .kind = kind};
}

}  // namespace

Reference reference_of(const SampleKey& key, const Sample& sample, const ReferenceInput& input) {
  switch (key.rule.compare) {
    case Comparison::Absolute:
      if (!key.rule.value) return {.kind = "absolute", .error = "the rule has no value"};
      return {.value = *key.rule.value, .kind = "absolute"};
    case Comparison::Theoretical: return theoretical(key, sample, input);
    case Comparison::Baseline: return of_baseline(key, input);
    case Comparison::Fleet: break;
  }
  return {.kind = "fleet median", .error = "a fleet is judged together"};
}

}  // namespace busbar::judge
