// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judged_rule.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/noise_gate.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

double max_cv(const Expectation& rule, const Specification& specification) {
  return rule.max_cv.value_or(specification.noise.max_cv);
}

void decide(JudgedRow& row, Word word, std::string reason) {
  row.decided = true;
  row.verdict.word = word;
  row.verdict.reason = std::move(reason);
}

std::string launch_count(std::size_t count) {
  return count == 1 ? "1 launch" : fmt::format("{} launches", count);
}

/// "2 of 5 launches gave nothing: timeout after 120 s".
std::string failure_words(const Sample& sample) {
  return fmt::format("{} of {} gave nothing: {}", sample.failures.size(),
                     launch_count(sample.failures.size() + sample.values.size()),
                     sample.failures.front());
}

std::string noise_words(const RuleVerdict& verdict, double most) {
  return fmt::format("{}cv {} over {} is above {}", kNoisy, percent_words(*verdict.cv),
                     launch_count(verdict.values.size()), percent_words(most));
}

/// Wrong data, no data, not applicable.
void judge_presence(JudgedRow& row) {
  const Sample& sample = row.sample;
  if (!sample.wrong.empty()) {
    row.wrong_data = true;
    return decide(row, Word::Fail, join(sample.wrong, "; "));
  }
  if (!sample.errors.empty()) return decide(row, Word::Error, join(sample.errors, "; "));
  if (!sample.values.empty()) return;
  if (sample.skipped_one_rank && sample.failures.empty()) {
    return decide(row, Word::Skip, "one rank: nothing crosses a bus, so it has no bus bandwidth");
  }
  decide(row, Word::Error, sample.failures.empty() ? "no data" : sample.failures.front());
}

void judge_noise(JudgedRow& row, const Expectation& rule, const Specification& specification) {
  const std::size_t valid = row.sample.values.size();
  if (const auto least = specification.run.min_launches; static_cast<int>(valid) < least) {
    std::string reason = fmt::format("{} where {} are needed", launch_count(valid), least);
    if (!row.sample.failures.empty()) reason += "; " + failure_words(row.sample);
    row.too_few = true;
    return decide(row, Word::Inconclusive, reason);
  }
  const double most = max_cv(rule, specification);
  const bool noisy = row.verdict.cv && *row.verdict.cv > most;
  if (noisy && specification.noise.on_noisy != OnNoisy::Warn) {
    decide(row, Word::Inconclusive, noise_words(row.verdict, most));
  }
}

RuleVerdict head_of(const SampleKey& key, const Sample& sample) {
  RuleVerdict verdict{.rule = key.rule.id,
                      .device_set = key.set.id,
                      .instance = key.instance.name,
                      .nodes = key.instance.nodes,
                      .collective = key.collective,
                      .type = key.rule.type,
                      .size = key.size,
                      .metric = key.rule.metric,
                      .statistic = key.rule.statistic,
                      .values = sample.values,
                      .bounds = key.rule.bounds,
                      .attempts = sample.attempts};
  if (!sample.values.empty()) verdict.value = stats::median(sample.values);
  verdict.cv = variation_of(sample.values);
  return verdict;
}

void say_two_groups(JudgedRow& row) {
  RuleVerdict& verdict = row.verdict;
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

/// A pass is at most `word`, for the reason; an empty reason changes nothing.
void lessen(JudgedRow& row, const std::string& reason, Word word) {
  if (reason.empty()) return;
  if (row.verdict.word < word && row.verdict.word != Word::Skip) row.verdict.word = word;
  add_reason(row.verdict, reason);
}

std::string failed_launches(const JudgedRow& row) {
  return row.sample.failures.empty() ? "" : failure_words(row.sample);
}

std::string warned_noise(const JudgedRow& row, const Expectation& rule,
                         const Specification& specification) {
  const double most = max_cv(rule, specification);
  return row.verdict.cv && *row.verdict.cv > most ? noise_words(row.verdict, most) : "";
}

}  // namespace

JudgedRow judge_sample(const SampleKey& key, const ReferenceInput& input) {
  JudgedRow row{.sample = gather(key, input.observations, input.specification.noise.decide)};
  row.verdict = head_of(key, row.sample);
  judge_presence(row);
  if (!row.decided) judge_noise(row, key.rule, input.specification);
  return row;
}

void show_reference(JudgedRow& row, const Reference& reference) {
  RuleVerdict& verdict = row.verdict;
  if (!reference.error.empty() || verdict.word == Word::Skip) return;
  if (!verdict.value) {
    verdict.reference_kind = reference.kind;
    verdict.reference = reference.value;
    return;
  }
  RuleVerdict bounded = verdict;
  bounded.reason.clear();
  check_bounds(bounded, reference);
  verdict.reference_kind = bounded.reference_kind;
  verdict.reference = bounded.reference;
  verdict.ratio = bounded.ratio;
  if (!row.too_few || !bounded.ratio) return;
  if (bounded.word == Word::Pass) {
    bounded.reason = fmt::format(
        "{} is {} of {}, within the bounds", value_words(*verdict.value, verdict.metric),
        percent_words(*bounded.ratio), value_words(*bounded.reference, verdict.metric));
  }
  add_reason(verdict, bounded.reason);
}

void qualify(JudgedRow& row, const Expectation& rule, const Specification& specification) {
  if (!row.decided) {
    lessen(row, failed_launches(row), Word::Warn);
    lessen(row, warned_noise(row, rule, specification), Word::Warn);
    const std::string why = no_pass(row.sample, specification.run.check_data);
    const bool never = row.sample.simulated || row.sample.fake;
    if (never && row.verdict.word == Word::Fail) row.verdict.word = Word::Inconclusive;
    lessen(row, why, Word::Inconclusive);
  }
  if (row.verdict.values.size() > 1 || row.sample.two_levels) say_two_groups(row);
}

std::vector<JudgedRow> judge_rule(const Expectation& rule, std::span<const Instance> instances,
                                  const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  std::vector<JudgedRow> rows;
  for (const Instance& instance : instances) {
    for (const std::string& collective : rule.collectives) {
      for (const Bytes size : rule.sizes) {
        const SampleKey key{rule, set, instance, collective, size};
        JudgedRow row = judge_sample(key, input);
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

}  // namespace busbar::judge
