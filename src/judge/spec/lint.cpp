// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/fleet/screen.hpp"
#include "judge/spec/ceiling.hpp"
#include "model/collective.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

using enum LintFinding::Severity;

struct Findings {
  std::vector<LintFinding> all{};

  /// What is wrong with a rule is often wrong for each of its collectives.
  template <class... Args>
  void add(LintFinding::Severity severity, const TextPlace& place, const std::string& rule,
           fmt::format_string<Args...> text, Args&&... args) {
    LintFinding finding{severity, place, rule, fmt::format(text, std::forward<Args>(args)...)};
    const auto same = [&](const LintFinding& earlier) {
      return earlier.rule == finding.rule && earlier.text == finding.text;
    };
    if (!finding.text.empty()) static_cast<void>(find_or_add(all, same, finding));
  }
};

// ---- one collective of a rule -----------------------------------------------------------------

constexpr double kTrivialShare = 0.5;

/// One collective of a rule on its set, with its ceiling where one is known.
struct LintCase {
  const Specification& specification;
  const Rule& rule;
  const Collective& collective;
  SetShape shape{};
  std::optional<CeilingFigure> ceiling{};

  [[nodiscard]] double bus_factor() const { return collective.bus_factor(shape.ranks); }
};

/// The bus bandwidth in GB/s that a machine needs for a value of the rule's metric.
double needed_busbw(const LintCase& subject, double value) {
  const Rule& rule = subject.rule;
  if (rule.metric == Metric::BusBandwidth) return value;
  const double algbw = rule.metric == Metric::AlgorithmBandwidth
                           ? value
                           : gigabytes_per_second(rule.sizes.back(), Seconds(value / 1e6));
  return algbw * subject.bus_factor();
}

/// Floors of a bandwidth, or the cap of a time, against the ceiling.
void lint_absolute(const LintCase& subject, Findings& findings) {
  const Rule& rule = subject.rule;
  const Bounds& bounds = rule.bounds;
  if (!subject.ceiling || !rule.value) return;
  const CeilingFigure& ceiling = *subject.ceiling;
  using NamedLimit = std::pair<std::string_view, std::optional<double>>;
  const bool time = rule.metric == Metric::Time;
  const auto limits = time ? std::array{NamedLimit{"fail_above", bounds.fail_above}, NamedLimit{}}
                           : std::array{NamedLimit{"fail_below", bounds.fail_below},
                                        NamedLimit{"warn_below", bounds.warn_below}};
  std::optional<double> least;
  for (const auto& [key, times] : limits) {
    if (!times) continue;
    const double busbw = needed_busbw(subject, *rule.value * *times);
    if (busbw > ceiling.GBps) {
      return findings.add(Refused, rule.value_place, rule.id,
                          "value {:g} {} x {} {:g} needs {:.4g} GB/s of {} bus bandwidth, above "
                          "the ceiling {:.4g} ({}): it can never be met",
                          *rule.value, unit(rule.metric), key, *times, busbw,
                          subject.collective.name, ceiling.GBps, ceiling.text);
    }
    if (!least) least = busbw;
  }
  if (time || !least || *least >= kTrivialShare * ceiling.GBps) return;
  findings.add(Warning, rule.value_place, rule.id,
               "the floor of {:.4g} GB/s for {} is under half of the ceiling {:.4g} ({}): a "
               "broken link could pass",
               *least, subject.collective.name, ceiling.GBps, ceiling.text);
}

/// The ceiling admits reductions in the network already: nothing exceeds it.
void lint_theoretical(const LintCase& subject, Findings& findings) {
  const Rule& rule = subject.rule;
  const Bounds& bounds = rule.bounds;
  for (const auto& floor : {bounds.fail_below, bounds.warn_below}) {
    if (!floor || *floor <= 1) continue;
    return findings.add(Refused, rule.value_place, rule.id,
                        "a floor of {:g} times the ceiling can never be met", *floor);
  }
  const auto least = bounds.fail_below ? bounds.fail_below : bounds.warn_below;
  if (least && *least < kTrivialShare) {
    findings.add(Warning, rule.value_place, rule.id,
                 "a floor of {:g} times the ceiling is under half of it: a broken link could pass",
                 *least);
  }
  if (!subject.ceiling && subject.shape.ranks > 0) {
    findings.add(Warning, rule.value_place, rule.id,
                 "[ceiling] has none for {} on {}: only a row's own bound_GBps would count, and "
                 "without it the rule is an ERROR",
                 subject.collective.name, rule.device_set);
  }
}

/// Microseconds that a ring of the library spends on its steps alone, by the system's protocol
/// (low-latency ring, the cheapest it has); 0 where no system is named.
double steps_us(const LintCase& subject) {
  const CeilingRule& ceiling = subject.specification.ceiling;
  if (ceiling.system.empty() || subject.shape.ranks < 2) return 0;
  const topo::Protocol protocol = topo::completed(topo::load_machine(ceiling.system).host.protocol);
  const topo::StepTimes& times =
      protocol.steps.at(static_cast<std::size_t>(topo::Sending::RingLowLatency));
  const double rounds = subject.collective.movement == Movement::AllReduce ? 2 : 1;
  const double across = subject.shape.nodes > 1 ? subject.shape.nodes : 0;
  const double inside = subject.shape.ranks - 1 - across;
  return times.launch_us +
         rounds * (across * times.network_us + std::max(0.0, inside) * times.nvlink_us);
}

/// A bandwidth of sizes whose time is mostly latency.
bool is_latency(const LintCase& subject) {
  const Rule& rule = subject.rule;
  const Bytes size = rule.sizes.front();
  if (rule.metric == Metric::Time) return false;
  // Where nothing is known of the system: on every published curve that this project knows, bus
  // bandwidth below 1 MiB is a small part of what large messages reach.
  if (size >= kMiB) {
    if (!subject.ceiling) return false;
    // What the bytes alone take at the ceiling. The steps of no system take a millisecond; its file
    // is not read for what is that long.
    const double wire_us =
        static_cast<double>(size) * subject.bus_factor() / (subject.ceiling->GBps * 1e3);
    if (wire_us > 1e3 || wire_us >= steps_us(subject)) return false;
  }
  return true;
}

void lint_collectives(const Specification& specification, const Rule& rule,
                      const Ceilings& ceilings, Findings& findings) {
  const DeviceSetRule& set = specification.device_set(rule.device_set);
  std::vector<std::string> latency;
  for (const std::string& collective : rule.collectives) {
    LintCase subject{.specification = specification,
                     .rule = rule,
                     .collective = *find_collective(collective),
                     .shape = shape_of(set, specification.system)};
    try {
      subject.ceiling = ceilings(collective, subject.shape);
    } catch (const Error& error) {
      findings.add(Refused, set.place, rule.id, "{}", error.what());
      return;
    }
    if (rule.compare == RuleKind::Absolute) lint_absolute(subject, findings);
    if (rule.compare == RuleKind::Theoretical) lint_theoretical(subject, findings);
    if (is_latency(subject)) latency.push_back(collective);
  }
  if (latency.empty()) return;
  findings.add(Warning, rule.size_place, rule.id,
               "{} of {} is mostly latency, which {} hardly shows: take metric = \"time_us\", or "
               "larger sizes",
               format_bytes(rule.sizes.front()), join(latency, ", "), name(rule.metric));
}

// ---- a rule as a whole ------------------------------------------------------------------------

bool is_fixed(const Rule& rule) {
  return rule.compare == RuleKind::Absolute || rule.compare == RuleKind::Theoretical;
}

/// An absolute or theoretical rule is only half of a test without its other side.
void lint_sides(const Rule& rule, Findings& findings) {
  const Bounds& bounds = rule.bounds;
  const bool time = rule.metric == Metric::Time;
  const bool guarded =
      time ? bounds.fail_below || bounds.warn_below : bounds.fail_above || bounds.warn_above;
  if (!is_fixed(rule) || guarded) return;
  findings.add(Warning, rule.place, rule.id,
               "nothing limits what is too good to be true (a wrong size, clock or number of "
               "ranks would pass); give {}",
               time ? "fail_below" : "fail_above");
}

/// What no comparison of pairs shows on so few nodes.
void lint_few_nodes(const Rule& rule, std::size_t nodes, bool floored, Findings& findings) {
  if (nodes == 0 || nodes > kFewestCompared) return;
  if (nodes < kFewestCompared) {
    return findings.add(Warning, rule.place, rule.id,
                        "a fleet comparison of pairs needs {} nodes: on {} this rule is always "
                        "INCONCLUSIVE; {}{}",
                        kFewestCompared, nodes,
                        floored ? "leave it out, since the floor of this set judges two"
                                : "give an absolute or theoretical floor instead, which judges two",
                        nodes == 2 ? ", though not which end of a slow pair is at fault" : "");
  }
  if (floored) return;
  findings.add(Warning, rule.place, rule.id,
               "comparing four nodes cannot distinguish two bad ones from two good ones: "
               "give {} a floor, too",
               rule.device_set);
}

void lint_fleet(const Specification& specification, const Rule& rule, std::size_t nodes,
                Findings& findings) {
  const auto is_floor = [&](const Rule& other) {
    return is_fixed(other) && other.device_set == rule.device_set && other.metric != Metric::Time &&
           other.bounds.fail_below;
  };
  const auto& rules = specification.rules;
  const bool floored = std::ranges::any_of(rules, is_floor);
  if (rule.compare != RuleKind::Fleet) return;
  if (specification.device_set(rule.device_set).kind == SetKind::Pairwise) {
    lint_few_nodes(rule, nodes, floored, findings);
  }
  if (floored) return;
  findings.add(Warning, rule.place, rule.id,
               "an all-bad fleet would pass: give {} also a rule with compare = \"absolute\" or "
               "\"theoretical\" and fail_below",
               rule.device_set);
}

void lint_known_issue(const Rule& rule, const std::string& today, Findings& findings) {
  if (!rule.known_issue || rule.known_issue->until >= today) return;
  findings.add(Warning, rule.place, rule.id,
               "known_issue \"{}\" ended on {}: its failures count again", rule.known_issue->reason,
               rule.known_issue->until);
}

/// Keys of other sets.
void lint_ignored(const Rule& rule, Findings& findings) {
  if (rule.ignored.empty()) return;
  findings.add(Warning, rule.place, rule.id,
               "{} has no effect: the nodes of a pairwise set meet partners at random, and who is "
               "low is measured again",
               join(rule.ignored, ", "));
}

// ---- the baseline -----------------------------------------------------------------------------

void lint_baseline(const Specification& specification, Findings& findings) {
  if (!specification.baseline) return;
  const BaselineRule& rule = *specification.baseline;
  if (!specification.needs_baseline()) {
    // A profile or --rule may leave out the rules that need it.
    if (specification.profile.empty() && specification.only.empty()) {
      findings.add(Warning, rule.place, "", "no rule is compared with the [baseline]");
    }
  } else if (!std::filesystem::exists(rule.run + "/launches.csv")) {
    findings.add(Refused, rule.place, "", "{} is not the folder of an accept run", rule.run);
  }
}

// ---- the file ---------------------------------------------------------------------------------

/// What every rule of a run would be an ERROR for, and sets that no rule is for.
void lint_file(const Specification& specification, Findings& findings) {
  if (specification.system.fingerprint.empty()) {
    findings.add(Warning, {.line = 1, .column = 1}, "",
                 "[system] has no fingerprint: any machine would be accepted as this system");
  }
  findings.add(Warning, specification.system.fingerprint_place, "", "{}",
               unreported_error(specification, {}));
  for (const DeviceSetRule& set : specification.device_sets) {
    if (any_has(specification.rules, set.id, &Rule::device_set)) continue;
    findings.add(Warning, set.place, "", "no rule is for device_set \"{}\"", set.id);
  }
}

}  // namespace

std::vector<LintFinding> lint(const Specification& specification, const std::string& today,
                              std::size_t nodes) {
  Findings findings;
  const Ceilings ceilings = ceilings_of(specification.ceiling);
  lint_file(specification, findings);
  lint_baseline(specification, findings);
  for (const Rule& rule : specification.rules) {
    lint_collectives(specification, rule, ceilings, findings);
    lint_sides(rule, findings);
    lint_fleet(specification, rule, nodes, findings);
    lint_known_issue(rule, today, findings);
    lint_ignored(rule, findings);
  }
  std::ranges::stable_sort(findings.all, {}, [](const LintFinding& finding) {
    return std::tie(finding.place.file, finding.place.line, finding.place.column);
  });
  return findings.all;
}

bool is_refused(std::span<const LintFinding> findings) {
  return any_has(findings, Refused, &LintFinding::severity);
}

std::string lint_text(const std::string& file, std::span<const LintFinding> findings) {
  std::string text;
  for (const LintFinding& finding : findings) {
    const TextPlace& place = finding.place;
    const std::string rule = finding.rule.empty() ? "" : fmt::format("rule {}: ", finding.rule);
    text += fmt::format("{}:{}:{}: {}: {}{}\n", place.file.empty() ? file : place.file, place.line,
                        place.column, finding.severity == Refused ? "refused" : "warning", rule,
                        finding.text);
  }
  return text;
}

}  // namespace busbar::judge
