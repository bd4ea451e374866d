// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "judge/spec/lint_parts.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
namespace {

constexpr double kTrivialShare = 0.5;

/// A bound and the bus bandwidth that a machine needs to keep it, in GB/s.
struct NeededRate {
  std::string_view key{};
  double times = 0;
  double busbw = 0;
  Bytes size = 0;  ///< of a time's bound: the one that needs most
};

double bus_factor(const std::string& collective, int ranks) {
  const Collective* known = find_collective(collective);
  return known == nullptr ? 0 : known->bus_factor(ranks);
}

NeededRate needed_for_bandwidth(const LintCase& subject, std::string_view key, double times) {
  const bool algorithm = subject.rule.metric == Metric::AlgorithmBandwidth;
  const double factor = algorithm ? bus_factor(subject.collective, subject.shape.ranks) : 1.0;
  return {.key = key, .times = times, .busbw = *subject.rule.value * times * factor};
}

NeededRate needed_for_time(const LintCase& subject, std::string_view key, double times) {
  const Bytes size = subject.rule.sizes.back();
  const Seconds most(*subject.rule.value * times / 1e6);
  return {.key = key,
          .times = times,
          .busbw = gigabytes_per_second(size, most) *
                   bus_factor(subject.collective, subject.shape.ranks),
          .size = size};
}

/// What the bounds of an absolute rule need: floors of a bandwidth, caps of a time.
std::vector<NeededRate> needed_rates(const LintCase& subject) {
  std::vector<NeededRate> needed;
  const Bounds& bounds = subject.rule.bounds;
  if (!subject.rule.value) return needed;
  if (subject.rule.metric == Metric::Time) {
    if (bounds.fail_above) {
      needed.push_back(needed_for_time(subject, "fail_above", *bounds.fail_above));
    }
    return needed;
  }
  if (bounds.fail_below) {
    needed.push_back(needed_for_bandwidth(subject, "fail_below", *bounds.fail_below));
  }
  if (bounds.warn_below) {
    needed.push_back(needed_for_bandwidth(subject, "warn_below", *bounds.warn_below));
  }
  return needed;
}

LintFinding finding_of(const LintCase& subject, LintFinding::Severity severity, std::string text) {
  const TextPlace value = subject.rule.value_place;
  return {.severity = severity,
          .place = value.line > 0 ? value : subject.rule.place,
          .rule = subject.rule.id,
          .text = std::move(text)};
}

void lint_absolute(const LintCase& subject, LintFindings& findings) {
  if (!subject.ceiling) return;
  const auto needed = needed_rates(subject);
  for (const NeededRate& rate : needed) {
    if (rate.busbw <= subject.ceiling->GBps) continue;
    findings.push_back(finding_of(
        subject, LintFinding::Severity::Refused,
        fmt::format("value {:g} {} x {} {:g} needs {:.4g} GB/s of {} bus bandwidth, above the "
                    "ceiling {:.4g} ({}): it can never be met",
                    *subject.rule.value, unit(subject.rule.metric), rate.key, rate.times,
                    rate.busbw, subject.collective, subject.ceiling->GBps,
                    subject.ceiling->words)));
    return;
  }
  if (needed.empty() || subject.rule.metric == Metric::Time) return;
  const double least = needed.front().busbw;
  if (least < kTrivialShare * subject.ceiling->GBps) {
    findings.push_back(finding_of(
        subject, LintFinding::Severity::Warning,
        fmt::format("the floor of {:.4g} GB/s for {} is under half of the ceiling {:.4g} ({}): a "
                    "broken link could pass",
                    least, subject.collective, subject.ceiling->GBps, subject.ceiling->words)));
  }
}

/// The ceiling admits reductions in the network already: more than it is reached by nobody.
void lint_theoretical(const LintCase& subject, LintFindings& findings) {
  const Bounds& bounds = subject.rule.bounds;
  for (const auto& floor : {bounds.fail_below, bounds.warn_below}) {
    if (!floor || *floor <= 1) continue;
    findings.push_back(
        finding_of(subject, LintFinding::Severity::Refused,
                   fmt::format("a floor of {:g} times the ceiling can never be met", *floor)));
    return;
  }
  const auto least = bounds.fail_below ? bounds.fail_below : bounds.warn_below;
  if (least && *least < kTrivialShare) {
    findings.push_back(
        finding_of(subject, LintFinding::Severity::Warning,
                   fmt::format("a floor of {:g} times the ceiling is under half of it: a broken "
                               "link could pass",
                               *least)));
  }
  if (!subject.ceiling && subject.shape.ranks > 0) {
    findings.push_back(finding_of(
        subject, LintFinding::Severity::Warning,
        fmt::format("[ceiling] tells none for {} on {}: only a row's own bound_GBps would count, "
                    "and without it the rule is an ERROR",
                    subject.collective, subject.rule.device_set)));
  }
}

}  // namespace

void lint_floors(const LintCase& subject, LintFindings& findings) {
  if (subject.rule.compare == Comparison::Absolute) lint_absolute(subject, findings);
  if (subject.rule.compare == Comparison::Theoretical) lint_theoretical(subject, findings);
}

}  // namespace busbar::judge
