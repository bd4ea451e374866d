// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "judge/run_facts.hpp"
#include "judge/spec/ceiling.hpp"
#include "model/collective.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

/// Findings as they are made.
class Findings {
 public:
  void refuse(TextPlace place, std::string rule, std::string text) {
    add(LintFinding::Severity::Refused, std::move(place), std::move(rule), std::move(text));
  }
  void warn(TextPlace place, std::string rule, std::string text) {
    add(LintFinding::Severity::Warning, std::move(place), std::move(rule), std::move(text));
  }

  /// In the order of the file. What is wrong with a rule is often wrong for each of its
  /// collectives.
  std::vector<LintFinding> take() {
    const auto order = [](const LintFinding& finding) {
      return std::tie(finding.place.file, finding.place.line, finding.place.column);
    };
    std::stable_sort(findings_.begin(), findings_.end(),
                     [&](const auto& one, const auto& other) { return order(one) < order(other); });
    std::vector<LintFinding> once;
    for (const LintFinding& finding : findings_) {
      const bool repeated = std::any_of(once.begin(), once.end(), [&](const LintFinding& earlier) {
        return earlier.rule == finding.rule && earlier.text == finding.text;
      });
      if (!repeated) once.push_back(finding);
    }
    return once;
  }

 private:
  void add(LintFinding::Severity severity, TextPlace place, std::string rule, std::string text) {
    if (text.empty()) return;
    findings_.push_back({.severity = severity,
                         .place = std::move(place),
                         .rule = std::move(rule),
                         .text = std::move(text)});
  }

  std::vector<LintFinding> findings_{};
};

// ---- one collective of a rule -----------------------------------------------------------------

constexpr double kTrivialShare = 0.5;

/// One collective of a rule on its set, with its ceiling where one is known.
struct LintCase {
  const Specification& specification;
  const Expectation& rule;
  std::string collective{};
  SetShape shape{};
  std::optional<CeilingFigure> ceiling{};

  [[nodiscard]] double bus_factor(double unknown) const {
    const Collective* known = find_collective(collective);
    return known == nullptr ? unknown : known->bus_factor(shape.ranks);
  }
  [[nodiscard]] TextPlace value_place() const {
    return rule.value_place.line > 0 ? rule.value_place : rule.place;
  }
};

/// A bound and the bus bandwidth that a machine needs to keep it, in GB/s.
struct NeededRate {
  std::string_view key{};
  double times = 0;
  double busbw = 0;
};

/// What a bound of an absolute rule needs: a floor of a bandwidth, a cap of a time.
NeededRate needed_rate(const LintCase& subject, std::string_view key, double times) {
  const double limit = *subject.rule.value * times;
  switch (subject.rule.metric) {
    case Metric::BusBandwidth: return {.key = key, .times = times, .busbw = limit};
    case Metric::AlgorithmBandwidth:
      return {.key = key, .times = times, .busbw = limit * subject.bus_factor(0)};
    case Metric::Time: break;
  }
  constexpr double kMicroseconds = 1e6;
  const double algbw =
      gigabytes_per_second(subject.rule.sizes.back(), Seconds(limit / kMicroseconds));
  return {.key = key, .times = times, .busbw = algbw * subject.bus_factor(0)};
}

std::vector<NeededRate> needed_rates(const LintCase& subject) {
  const Bounds& bounds = subject.rule.bounds;
  std::vector<NeededRate> needed;
  const auto add = [&](std::string_view key, const std::optional<double>& times) {
    if (times) needed.push_back(needed_rate(subject, key, *times));
  };
  if (!subject.rule.value) return needed;
  if (subject.rule.metric == Metric::Time) {
    add("fail_above", bounds.fail_above);
  } else {
    add("fail_below", bounds.fail_below);
    add("warn_below", bounds.warn_below);
  }
  return needed;
}

void lint_absolute(const LintCase& subject, Findings& findings) {
  const Expectation& rule = subject.rule;
  if (!subject.ceiling) return;
  const CeilingFigure& ceiling = *subject.ceiling;
  const auto needed = needed_rates(subject);
  for (const NeededRate& rate : needed) {
    if (rate.busbw <= ceiling.GBps) continue;
    findings.refuse(subject.value_place(), rule.id,
                    fmt::format("value {:g} {} x {} {:g} needs {:.4g} GB/s of {} bus bandwidth, "
                                "above the ceiling {:.4g} ({}): it can never be met",
                                *rule.value, unit(rule.metric), rate.key, rate.times, rate.busbw,
                                subject.collective, ceiling.GBps, ceiling.text));
    return;
  }
  if (needed.empty() || rule.metric == Metric::Time) return;
  const double least = needed.front().busbw;
  if (least >= kTrivialShare * ceiling.GBps) return;
  findings.warn(subject.value_place(), rule.id,
                fmt::format("the floor of {:.4g} GB/s for {} is under half of the ceiling {:.4g} "
                            "({}): a broken link could pass",
                            least, subject.collective, ceiling.GBps, ceiling.text));
}

/// The ceiling admits reductions in the network already: nothing exceeds it.
void lint_theoretical(const LintCase& subject, Findings& findings) {
  const Expectation& rule = subject.rule;
  const Bounds& bounds = rule.bounds;
  for (const auto& floor : {bounds.fail_below, bounds.warn_below}) {
    if (!floor || *floor <= 1) continue;
    findings.refuse(subject.value_place(), rule.id,
                    fmt::format("a floor of {:g} times the ceiling can never be met", *floor));
    return;
  }
  const auto least = bounds.fail_below ? bounds.fail_below : bounds.warn_below;
  if (least && *least < kTrivialShare) {
    findings.warn(subject.value_place(), rule.id,
                  fmt::format("a floor of {:g} times the ceiling is under half of it: a broken "
                              "link could pass",
                              *least));
  }
  if (!subject.ceiling && subject.shape.ranks > 0) {
    findings.warn(subject.value_place(), rule.id,
                  fmt::format("[ceiling] has none for {} on {}: only a row's own bound_GBps would "
                              "count, and without it the rule is an ERROR",
                              subject.collective, rule.device_set));
  }
}

/// Microseconds that a ring of the library spends on its steps alone, by the system's protocol
/// (low-latency ring, the cheapest it has); nothing where no system is named.
std::optional<double> steps_us(const LintCase& subject) {
  const CeilingRule& ceiling = subject.specification.ceiling;
  if (ceiling.system.empty() || subject.shape.ranks < 2) return std::nullopt;
  const topo::Protocol protocol = topo::completed(topo::load_machine(ceiling.system).host.protocol);
  const topo::StepTimes& times =
      protocol.steps.at(static_cast<std::size_t>(topo::Sending::RingLowLatency));
  const double rounds = subject.collective == "allreduce" ? 2 : 1;
  const double across = subject.shape.nodes > 1 ? subject.shape.nodes : 0;
  const double inside = subject.shape.ranks - 1 - across;
  return times.launch_us +
         rounds * (across * times.network_us + std::max(0.0, inside) * times.nvlink_us);
}

bool is_latency_bound(const LintCase& subject, Bytes size) {
  // Where nothing is known of the system: on every published curve that this project knows, bus
  // bandwidth below 1 MiB is a small part of what large messages reach.
  if (size < kMiB) return true;
  if (!subject.ceiling) return false;
  // What the bytes alone take at the ceiling.
  const double wire_us =
      static_cast<double>(size) * subject.bus_factor(1) / (subject.ceiling->GBps * 1e3);
  // The steps of no system take a millisecond; its file is not read for what is that long.
  constexpr double kNeverLatencyMicroseconds = 1e3;
  if (wire_us > kNeverLatencyMicroseconds) return false;
  const auto steps = steps_us(subject);
  return steps && wire_us < *steps;
}

/// A bandwidth of sizes whose time is mostly latency.
void lint_latency(const LintCase& subject, Findings& findings) {
  const Expectation& rule = subject.rule;
  const Bytes size = rule.sizes.front();
  if (rule.metric == Metric::Time || !is_latency_bound(subject, size)) return;
  findings.warn(rule.size_place, rule.id,
                fmt::format("{} of {} is mostly latency, which {} hardly shows: take metric = "
                            "\"time_us\", or larger sizes",
                            format_bytes(size), subject.collective, name(rule.metric)));
}

void lint_collectives(const Specification& specification, const Expectation& rule,
                      CeilingTable& ceilings, Findings& findings) {
  const DeviceSetRule& set = specification.device_set(rule.device_set);
  for (const std::string& collective : rule.collectives) {
    LintCase subject{.specification = specification,
                     .rule = rule,
                     .collective = collective,
                     .shape = shape_of(set, specification.system)};
    try {
      subject.ceiling = ceilings.of(collective, subject.shape);
    } catch (const Error& error) {
      findings.refuse(set.place, rule.id, error.what());
      return;
    }
    if (rule.compare == Comparison::Absolute) lint_absolute(subject, findings);
    if (rule.compare == Comparison::Theoretical) lint_theoretical(subject, findings);
    lint_latency(subject, findings);
  }
}

// ---- a rule as a whole ------------------------------------------------------------------------

bool is_fixed(const Expectation& rule) {
  return rule.compare == Comparison::Absolute || rule.compare == Comparison::Theoretical;
}

/// An absolute or theoretical rule is only half of a test without its other side.
void lint_sides(const Expectation& rule, Findings& findings) {
  const Bounds& bounds = rule.bounds;
  const bool time = rule.metric == Metric::Time;
  const bool guarded =
      time ? bounds.fail_below || bounds.warn_below : bounds.fail_above || bounds.warn_above;
  if (!is_fixed(rule) || guarded) return;
  findings.warn(rule.place, rule.id,
                fmt::format("nothing limits what is too good to be true (a wrong size, clock or "
                            "number of ranks would pass); give {}",
                            time ? "fail_below" : "fail_above"));
}

void lint_fleet(const Specification& specification, const Expectation& rule, Findings& findings) {
  if (rule.compare != Comparison::Fleet) return;
  const auto is_floor = [&](const Expectation& other) {
    return is_fixed(other) && other.device_set == rule.device_set && other.metric != Metric::Time &&
           other.bounds.fail_below;
  };
  const auto& rules = specification.expectations;
  if (std::any_of(rules.begin(), rules.end(), is_floor)) return;
  findings.warn(rule.place, rule.id,
                fmt::format("an all-bad fleet would pass: give {} also a rule with compare = "
                            "\"absolute\" or \"theoretical\" and fail_below",
                            rule.device_set));
}

void lint_known_issue(const Expectation& rule, const std::string& today, Findings& findings) {
  if (!rule.known_issue || rule.known_issue->until >= today) return;
  findings.warn(rule.place, rule.id,
                fmt::format("known_issue \"{}\" ended on {}: its failures count again",
                            rule.known_issue->reason, rule.known_issue->until));
}

// ---- the baseline -----------------------------------------------------------------------------

/// The fingerprint's name for a fact of a baseline.
std::string fingerprint_key(const std::string& fact) {
  if (fact == "nccl") return "library";
  if (fact == "ngpus") return "gpus_per_node";
  return fact;
}

/// Why a fact cannot be matched, or empty.
std::string fact_fault(const Specification& specification, const Baseline& baseline,
                       const std::string& fact) {
  // Each of its rows is of one, which is held against the rules'.
  if (fact == "device_set") return {};
  const std::string key = fingerprint_key(fact);
  const auto reported = baseline.facts.find(fact);
  const auto wanted = specification.system.fingerprint.find(key);
  if (reported == baseline.facts.end()) {
    return fmt::format("must_match needs {}, which {} does not have", fact, baseline.file);
  }
  if (wanted == specification.system.fingerprint.end()) {
    return fmt::format("must_match needs {}, but the fingerprint of [system] has no {} to match",
                       fact, key);
  }
  if (matches_fact(key, reported->second, wanted->second)) return {};
  return fmt::format("{} is of {} '{}', the fingerprint of [system] wants {} {}", baseline.file,
                     fact, reported->second, key, alternatives(wanted->second));
}

std::string age_fault(const BaselineRule& rule, const Baseline& baseline,
                      const std::string& today) {
  const int days = days_between(baseline.made_on, today);
  if (days < 0) {
    return fmt::format("{} was made on {}, after today ({})", baseline.file, baseline.made_on,
                       today);
  }
  if (days <= rule.max_age_days) return {};
  return fmt::format("{} was made on {}, {} days ago; max_age_days is {}: measure a new one",
                     baseline.file, baseline.made_on, days, rule.max_age_days);
}

bool has_row(const Baseline& baseline, const Expectation& rule, const std::string& collective,
             Bytes size) {
  return std::any_of(baseline.rows.begin(), baseline.rows.end(), [&](const BaselineRow& row) {
    const BaselineKey wanted{rule.device_set, row.key.instance, collective, rule.type, size,
                             rule.metric,     rule.statistic};
    return row.key == wanted;
  });
}

void lint_rows(const Baseline& baseline, const Expectation& rule, Findings& findings) {
  for (const std::string& collective : rule.collectives) {
    const auto missing = std::find_if_not(rule.sizes.begin(), rule.sizes.end(), [&](Bytes size) {
      return has_row(baseline, rule, collective, size);
    });
    if (missing == rule.sizes.end()) continue;
    findings.refuse(
        rule.place, rule.id,
        fmt::format("{} has no {} {} of {} {} on {}", baseline.file, name(rule.statistic),
                    name(rule.metric), collective, format_bytes(*missing), rule.device_set));
    return;
  }
}

bool compares(const Expectation& rule) { return rule.compare == Comparison::Baseline; }

/// Age, facts and rows of the baseline.
void lint_baseline(const Specification& specification, const Baseline* baseline,
                   const std::string& today, Findings& findings) {
  if (!specification.baseline) return;
  const BaselineRule& rule = *specification.baseline;
  const auto& rules = specification.expectations;
  if (std::none_of(rules.begin(), rules.end(), compares)) {
    // A profile or --rule may leave out the rules that need it.
    if (specification.profile.empty() && specification.only.empty()) {
      findings.warn(rule.place, "", "no rule is compared with the [baseline]");
    }
    return;
  }
  if (baseline == nullptr) {
    findings.refuse(
        rule.place, "",
        fmt::format("{} is not there or cannot be read; busbar accept baseline makes one",
                    rule.file));
    return;
  }
  findings.refuse(rule.place, "", age_fault(rule, *baseline, today));
  for (const std::string& fact : rule.must_match) {
    findings.refuse(rule.place, "", fact_fault(specification, *baseline, fact));
  }
  for (const Expectation& expectation : rules) {
    if (compares(expectation)) lint_rows(*baseline, expectation, findings);
  }
}

// ---- the file ---------------------------------------------------------------------------------

/// What every rule of a run would be an ERROR for.
void lint_fingerprint(const Specification& specification, Findings& findings) {
  if (specification.system.fingerprint.empty()) {
    findings.warn({.line = 1, .column = 1}, "",
                  "[system] has no fingerprint: any machine would pass for it");
  }
  findings.warn(specification.system.fingerprint_place, "", unreported_error(specification, {}));
}

void lint_sets(const Specification& specification, Findings& findings) {
  const auto& rules = specification.expectations;
  for (const DeviceSetRule& set : specification.device_sets) {
    const bool used = std::any_of(rules.begin(), rules.end(), [&](const Expectation& rule) {
      return rule.device_set == set.id;
    });
    if (!used) {
      findings.warn(set.place, "", fmt::format("no rule is for device_set \"{}\"", set.id));
    }
  }
}

}  // namespace

std::vector<LintFinding> lint(const Specification& specification, const Baseline* baseline,
                              const std::string& today) {
  Findings findings;
  CeilingTable ceilings(specification.ceiling);
  lint_sets(specification, findings);
  lint_baseline(specification, baseline, today, findings);
  lint_fingerprint(specification, findings);
  for (const Expectation& rule : specification.expectations) {
    lint_collectives(specification, rule, ceilings, findings);
    lint_sides(rule, findings);
    lint_fleet(specification, rule, findings);
    lint_known_issue(rule, today, findings);
  }
  return findings.take();
}

bool is_refused(std::span<const LintFinding> findings) {
  return std::any_of(findings.begin(), findings.end(), [](const LintFinding& finding) {
    return finding.severity == LintFinding::Severity::Refused;
  });
}

std::string lint_text(const std::string& file, std::span<const LintFinding> findings) {
  std::string text;
  for (const LintFinding& finding : findings) {
    const TextPlace& place = finding.place;
    const std::string rule = finding.rule.empty() ? "" : fmt::format("rule {}: ", finding.rule);
    text += fmt::format("{}:{}:{}: {}: {}{}\n", place.file.empty() ? file : place.file, place.line,
                        place.column,
                        finding.severity == LintFinding::Severity::Refused ? "refused" : "warning",
                        rule, finding.text);
  }
  return text;
}

}  // namespace busbar::judge
