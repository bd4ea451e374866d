// SPDX-License-Identifier: BSD-3-Clause
#include "judge/reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/run_facts.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
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
            .error = "no ceiling is known: neither [ceiling] nor column bound_GBps tells one"};
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
  std::optional<std::string> told = fact_of(launch, fact);
  const auto known = input.assumed.find(fact);
  if (!told && known != input.assumed.end()) told = known->second;
  const auto wanted = baseline_fact(*input.baseline, fact, key.set.id);
  // A row of the same device set was found already; only words that both tell can contradict.
  if (fact == "device_set" && (!wanted || !told)) return {};
  if (!wanted) return fmt::format("baseline {} does not tell {}", input.baseline->file, fact);
  if (!told) {
    return fmt::format("baseline: {} does not tell {} (--assume {}=VALUE where you know it)",
                       launch.file.empty() ? "a launch" : launch.file, fact, fact);
  }
  if (*told == *wanted) return {};
  return fmt::format("baseline {} is of {} '{}', this is '{}'", input.baseline->file, fact, *wanted,
                     *told);
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
  const BaselineRow* found = nullptr;
  for (const BaselineRow& row : baseline.rows) {
    const Expectation& rule = key.rule;
    const bool fits = row.device_set == rule.device_set && row.collective == key.collective &&
                      row.type == rule.type && row.size == key.size && row.metric == rule.metric &&
                      row.statistic == rule.statistic;
    if (!fits) continue;
    if (row.instance == key.instance.name) return &row;
    if (row.instance.empty()) found = &row;
  }
  return found;
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
