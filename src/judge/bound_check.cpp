// SPDX-License-Identifier: BSD-3-Clause
#include "judge/bound_check.hpp"

#include <cmath>

#include <fmt/format.h>

namespace busbar::judge {
namespace {

/// A bound that a ratio misses: the word, and on which side.
struct Miss {
  Word word = Word::Pass;
  bool above = false;
  double bound = 0;
};

Miss miss_of(const Bounds& bounds, double ratio) {
  const auto below = [&](const std::optional<double>& bound) { return bound && ratio < *bound; };
  const auto above = [&](const std::optional<double>& bound) { return bound && ratio > *bound; };
  if (below(bounds.fail_below)) return {Word::Fail, false, *bounds.fail_below};
  if (above(bounds.fail_above)) return {Word::Fail, true, *bounds.fail_above};
  if (below(bounds.warn_below)) return {Word::Warn, false, *bounds.warn_below};
  if (above(bounds.warn_above)) return {Word::Warn, true, *bounds.warn_above};
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

void check_bounds(RuleVerdict& verdict, const Reference& reference) {
  verdict.reference_kind = reference.kind;
  verdict.word = Word::Error;
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
  verdict.word = miss.word;
  if (miss.word == Word::Pass) return;
  const bool fast = miss.above != (verdict.metric == Metric::Time);
  verdict.reason =
      fmt::format("{}{} is {} of {}, {} {}", miss.word == Word::Fail && fast ? "too good: " : "",
                  value_words(*verdict.value, verdict.metric), percent_words(ratio),
                  value_words(reference.value, verdict.metric), miss.above ? "above" : "below",
                  percent_words(miss.bound));
}

void add_reason(RuleVerdict& verdict, const std::string& more) {
  if (!verdict.reason.empty()) verdict.reason += "; ";
  verdict.reason += more;
}

}  // namespace busbar::judge
