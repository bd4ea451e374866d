// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/pairwise_rule.hpp"
#include "judge/spec/ceiling.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
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
    const bool stays = row.outcome != Outcome::Fail || row.is_broken();
    if (stays || count > judged.rule.allow_misses) return;
    row.outcome = Outcome::Warn;
    add_reason(
        row, fmt::format("{} of {} allowed misses of this curve", count, judged.rule.allow_misses));
  });
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

Reference theoretical(const SampleKey& key, const Sample& sample, const Ceilings& ceilings) {
  if (const auto figure = ceilings(key.collective, key.shape())) {
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
    const bool is_of_it = key.set.kind == SetKind::Pairwise
                              ? launch.device_set == key.set.id
                              : belongs_to(launch, key.set, key.instance);
    if (!is_of_it || launch.records.empty()) continue;
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
                       const Ceilings& ceilings) {
  if (key.rule.compare == RuleKind::Theoretical) return theoretical(key, sample, ceilings);
  if (key.rule.compare == RuleKind::Baseline) return of_baseline(key, input);
  if (!key.rule.value) return {.kind = "absolute", .error = "the rule has no value"};
  return {.value = *key.rule.value, .kind = "absolute"};
}

PairwiseResult judge_pairs(std::span<const SampleKey> keys, const JudgeInput& input,
                           const Ceilings& ceilings) {
  return judge_pairwise(keys, input, [&](const SampleKey& key, const Sample& sample) {
    return reference_of(key, sample, input, ceilings);
  });
}

/// One collective and size, whose keys are of its instances.
PointResult judge_point(std::span<const SampleKey> keys, const JudgeInput& input,
                        const Ceilings& ceilings) {
  PointResult point;
  if (!keys.empty() && keys.front().set.kind == SetKind::Pairwise) {
    return judge_pairs(keys, input, ceilings).point;
  }
  for (const SampleKey& key : keys) {
    CheckedRow& row = point.rows.emplace_back(judge_sample(key, input));
    if (key.rule.compare == RuleKind::Fleet) continue;
    apply_reference(row, reference_of(key, row.sample, input, ceilings));
    qualify(row, key.rule, input.specification);
  }
  const bool fleet = !keys.empty() && keys.front().rule.compare == RuleKind::Fleet;
  if (fleet) judge_fleet(point, keys.front(), input);
  judge_failed_launches(
      point.rows, static_cast<std::size_t>(std::max(1, input.specification.run.min_launches)));
  return point;
}

/// What could not have been measured: an ERROR each, never left out.
void add_unmeasured(RuleResult& judged, std::span<const Instance> instances,
                    const JudgeInput& input) {
  const Rule& rule = judged.rule;
  const auto add = [&](const Instance& instance, const std::string& why) {
    judged.unmeasured.push_back(
        blank_row(rule, instance, rule.collectives.front(), rule.sizes.front()));
    decide_absent(judged.unmeasured.back(), "no data: " + why, input.partial);
  };
  if (instances.empty()) {
    add({.name = "all"}, "the set has no nodes to measure on");
  }
}

template <class Item, class Same>
void add_unless(std::vector<Item>& items, const std::vector<Item>& more, const Same& same) {
  for (const Item& one : more) {
    const auto is_same = [&](const Item& known) { return same(known) == same(one); };
    static_cast<void>(find_or_add(items, is_same, one));
  }
}

void add_suspects(Screening& all, const Screening& more) {
  if (more.log_effects.empty()) return;
  all.again = std::max(all.again, more.again);
  add_unless(all.dead, more.dead, [](std::size_t node) { return node; });
  add_unless(all.nodes, more.nodes, [](const NodeFinding& one) { return one.node; });
  add_unless(all.units, more.units,
             [](const UnitFinding& one) { return std::pair(one.unit, one.other); });
  add_unless(all.links, more.links,
             [](const LinkFinding& one) { return pair_of(one.first, one.second); });
  if (all.log_effects.empty()) all.log_effects.assign(more.log_effects.size(), 0);
  for (std::size_t node = 0; node < more.log_effects.size(); ++node) {
    all.log_effects[node] += more.log_effects[node];  // none of both is none
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
        add_suspects(all, judge_pairs(keys, input, ceilings).to_repeat);
      }
    }
  }
  return all;
}

RuleResult judge_rule(const Rule& rule, const JudgeInput& input) {
  const Specification& specification = input.specification;
  RuleResult judged{.rule = rule, .set = specification.device_set(rule.device_set)};
  const auto instances = instances_of(judged.set, input.nodes);
  const Ceilings ceilings = ceilings_of(specification.ceiling);
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      const auto keys = keys_of(rule, judged.set, instances, collective, size);
      judged.points.push_back(judge_point(keys, input, ceilings));
    }
  }
  add_unmeasured(judged, instances, input);
  allow_misses(judged);
  if (rule.known_issue) apply_known_issue(judged, *rule.known_issue, input.today);
  return judged;
}

}  // namespace busbar::judge
