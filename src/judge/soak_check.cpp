// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/timeline_file.hpp"
#include "format/timeline_text.hpp"
#include "judge/judge.hpp"
#include "judge/run/journal.hpp"
#include "study/plot/figures.hpp"

namespace busbar::judge {
namespace {

struct SoakSeries {
  std::string title{};
  stats::Timeline timeline{};
  double seconds = 0;
  Bytes checked = 0;
  std::uint64_t wrong = 0;
  std::vector<std::string> failures{};  ///< of turns that hung or crashed, or have no data
  std::size_t turns = 0;
  std::vector<study::LabelledTimeline> files{};  ///< for the picture

  /// Turns follow each other without the time between them.
  void add(TimelineFile turn) {
    timeline.add(turn.timeline, seconds);
    checked += turn.checked_bytes;
    wrong += turn.wrong;
    seconds += turn.seconds;
    files.push_back({title, std::move(turn)});
  }
};

/// A turn that was ended with the run has what was measured until then, and is no failure.
void add_turn(SoakSeries& series, const Observation& launch) {
  const bool interrupted = launch.failure == kInterrupted;
  const std::string path = timeline_path(launch.file);
  const bool has_timeline = !launch.file.empty() && std::filesystem::exists(path);
  if (interrupted && !has_timeline) return;
  ++series.turns;
  if (!launch.failure.empty() && !interrupted) series.failures.push_back(launch.failure);
  if (has_timeline) return series.add(read_timeline(path));
  if (launch.failure.empty()) series.failures.push_back(launch.file + " has no timeline");
}

SoakSeries series_of(const JudgeInput& input, const DeviceSetRule& set, const Instance& instance,
                     const std::string& collective) {
  SoakSeries series{.title = fmt::format("{} {}", set.id, instance.name)};
  for (const Observation& launch : input.observations) {
    const bool wanted = launch.collective == collective && belongs_to(launch, set, instance);
    if (wanted) add_turn(series, launch);
  }
  return series;
}

std::string at_text(double seconds) { return "at " + clock_text(seconds); }

constexpr double kPercent = 100;

/// What a series shows of one limit: fine, unless it says otherwise.
struct SoakFinding {
  Outcome outcome = Outcome::Pass;
  std::string reason{};
  std::optional<double> value{};
  DecidedBy decided_by = DecidedBy::Other;
};

SoakFinding launches_of(const SoakSeries& series) {
  const std::size_t failed = series.failures.size();
  const bool none = series.timeline.points().empty();
  if (failed == 0 && !none) return {.value = 0};
  return {none ? Outcome::Error : Outcome::Fail,
          failed == 0 ? "no data: no interval was measured"
                      : fmt::format("{} of {} failed: {}", failed, counted(series.turns, "turn"),
                                    series.failures.front()),
          none ? std::nullopt : std::optional(static_cast<double>(failed)),
          DecidedBy::FailedLaunches};
}

SoakFinding wrong_of(const SoakSeries& series) {
  if (series.wrong > 0) {
    return {Outcome::Fail, counted(series.wrong, "wrong element"),
            static_cast<double>(series.wrong), DecidedBy::WrongData};
  }
  if (series.checked == 0) return {Outcome::Inconclusive, "no data were checked"};
  return {.value = 0};
}

/// Of the median time: a share; `least`: what could not be seen.
SoakFinding change_of(double share, double most, double least, const std::string& text) {
  if (share > most) {
    return {Outcome::Fail,
            fmt::format("median time {}, at most {} is allowed", text, format_percent(most)),
            kPercent * share};
  }
  if (least > most) {
    return {Outcome::Inconclusive,
            fmt::format("changes under {} cannot be distinguished from the run's variation",
                        format_percent(least))};
  }
  return {.value = kPercent * share};
}

SoakFinding level_of(const SoakSeries& series, const stats::LevelScan& scan, double most) {
  const auto share = [](const stats::LevelChange& one) {
    return std::abs(one.after / one.before - 1);
  };
  const auto worst = std::ranges::max_element(scan.changes, {}, share);
  if (worst == scan.changes.end()) return change_of(0, most, scan.least, "");
  const double start = worst->at == 0 ? 0 : series.timeline.points()[worst->at - 1].at_s;
  return change_of(
      share(*worst), most, scan.least,
      fmt::format("{} {} {}", format_percent(share(*worst)),
                  worst->after > worst->before ? "longer" : "shorter", at_text(start)));
}

SoakFinding drift_of(const stats::Drift& drift, double most) {
  return change_of(drift.found ? std::abs(drift.total) : 0, most, drift.least,
                   "drifts by " + format_percent(drift.total));
}

/// To a tenth, which no part is shorter than.
double part_seconds(const SoakSeries& series, std::size_t parts) {
  constexpr double kTenths = 10;
  return std::round(kTenths * static_cast<double>(parts) * series.timeline.part_s()) / kTenths;
}

SoakFinding dips_of(const SoakSeries& series, const stats::SlowdownScan& scan, int most) {
  constexpr std::size_t kMostShown = 6;
  const auto dips = filtered(scan.slowdowns, &stats::Slowdown::is_dip);
  const auto count = static_cast<double>(dips.size());
  if (dips.size() <= static_cast<std::size_t>(most)) return {.value = count};
  const auto shown = std::span(dips).first(std::min(dips.size(), kMostShown));
  const std::string times = join_each(shown, ", ", [&](const stats::Slowdown& dip) {
    return clock_text(part_seconds(series, dip.at), true);
  });
  return {Outcome::Fail,
          fmt::format("{} ({}), at most {} allowed", counted(dips.size(), "dip"), times, most),
          count};
}

SoakFinding recovery_of(const SoakSeries& series, const stats::SlowdownScan& scan, double most) {
  // Of a fall that did not recover: how long it was watched.
  const auto seconds = [&](const stats::Slowdown& one) {
    return part_seconds(series, one.recovery.value_or(series.timeline.rates().size() - one.at));
  };
  const auto worst = std::ranges::max_element(scan.slowdowns, {}, [&](const auto& one) {
    return std::pair(seconds(one) > most, one.recovery ? seconds(one) : HUGE_VAL);
  });
  if (worst == scan.slowdowns.end()) return {.value = 0};
  const double took = seconds(*worst);
  const std::string where = at_text(part_seconds(series, worst->at));
  if (!worst->recovery && took > most) {
    return {Outcome::Fail, fmt::format("not recovered {}: it stays at {} of the rate before", where,
                                       format_percent(worst->settled / worst->before))};
  }
  if (!worst->recovery) {
    return {Outcome::Inconclusive,
            fmt::format("the fall {} was watched for {:.1f} s only: {:g} s are allowed", where,
                        took, most)};
  }
  if (took <= most) return {.value = took};
  return {Outcome::Fail,
          fmt::format("{:.1f} s to recover {}, at most {:g} s are allowed", took, where, most),
          took};
}

/// The results of one series; `blank` has what they have in common.
std::vector<CheckResult> judge_series(const SoakRule& rule, const SoakSeries& series,
                                      const CheckResult& blank) {
  std::vector<CheckResult> results;
  const auto add = [&](std::string_view name, Metric metric, SoakFinding found,
                       std::optional<double> most = {}) {
    CheckResult& result = results.emplace_back(blank);
    result.rule = name;
    result.metric = metric;
    result.value = found.value;
    result.reference = most;
    if (most) {
      result.reference_kind = "[soak]";
      result.bounds.fail_above = 1;
    }
    result.outcome = found.outcome;
    result.decided_by = found.decided_by;
    result.reason = std::move(found.reason);
  };
  add("soak-launches", Metric::FailedTurns, launches_of(series));
  add("soak-wrong", Metric::WrongElements, wrong_of(series));
  const std::size_t points = series.timeline.points().size();
  if (points == 0) return results;
  const std::string intervals = counted(points, "interval");
  const std::string parts = counted(series.timeline.rates().size(), "part");
  const auto [level, drift, slowdowns, period] = stats::find_events(series.timeline);
  const auto add_limit = [&](std::string_view name, Metric metric, double most, SoakFinding found,
                             std::size_t needed, const std::string& there) {
    if (needed > 0) {
      found = {Outcome::Inconclusive, fmt::format("not judged: {}, {} needed", there, needed)};
    }
    add(name, metric, std::move(found), most);
  };
  if (const auto most = rule.level_max) {
    add_limit("soak-level", Metric::Change, kPercent * *most, level_of(series, level, *most),
              level.needed, intervals);
  }
  if (const auto most = rule.drift_max) {
    add_limit("soak-drift", Metric::Change, kPercent * *most, drift_of(drift, *most), drift.needed,
              intervals);
  }
  if (const auto most = rule.dips_max) {
    add_limit("soak-dips", Metric::Dips, *most, dips_of(series, slowdowns, *most), slowdowns.needed,
              parts);
  }
  if (const auto most = rule.recover_s_max) {
    add_limit("soak-recover", Metric::Recovery, *most, recovery_of(series, slowdowns, *most),
              slowdowns.needed, parts);
  }
  return results;
}

/// "pairs h1+h2 allreduce, 3 turns, 68 s in total: ...".
std::string describe(const SoakSeries& series) {
  constexpr double kFewSeconds = 120;
  return fmt::format(
      "{}, {}, {} in total: {}", series.title, counted(series.turns, "turn"),
      series.seconds < kFewSeconds ? fmt::format("{:.0f} s", series.seconds)
                                   : clock_text(series.seconds),
      join(describe_events(series.timeline, stats::find_events(series.timeline)), "; "));
}

/// What went wrong on hosts meanwhile, as the folders of the turns have it.
std::vector<machine::HostFault> faults_of(const JudgeInput& input) {
  std::set<std::string> paths;
  for (const Observation& launch : input.observations) {
    if (!launch.file.empty()) paths.insert(beside(launch.file, "facts.csv"));
  }
  std::vector<machine::HostFault> faults;
  for (const std::string& path : paths) {
    if (std::filesystem::exists(path)) append(faults, machine::read_host_faults(path));
  }
  return faults;
}

}  // namespace

void judge_soak(const JudgeInput& input, Acceptance& acceptance) {
  constexpr std::size_t kMostShown = 8;
  const Specification& specification = input.specification;
  std::vector<std::pair<Outcome, SoakSeries>> shown;  // the worst
  Bytes checked = 0;
  std::uint64_t wrong = 0;
  for (const DeviceSetRule& set : specification.device_sets) {
    std::vector<Instance> instances;
    for (const auto& round : soaked_rounds(set, input.nodes)) append(instances, round);
    for (const std::string& collective : collectives_of(specification, set.id)) {
      for (const Instance& instance : instances) {
        SoakSeries series = series_of(input, set, instance, collective);
        const auto judged = judge_series(*specification.soak, series,
                                         {.device_set = set.id,
                                          .instance = instance.name,
                                          .nodes = instance.nodes,
                                          .collective = collective,
                                          .size = specification.soak->sizes.front(),
                                          .attempts = series.turns});
        append(acceptance.verdicts, judged);
        checked += series.checked;
        wrong += series.wrong;
        if (series.timeline.points().empty()) continue;
        series.title += " " + collective;
        const auto worst = std::ranges::max_element(judged, {}, &CheckResult::outcome);
        shown.emplace_back(worst->outcome, std::move(series));
        std::ranges::stable_sort(shown, std::greater{}, [](const auto& one) { return one.first; });
        shown.resize(std::min(shown.size(), kMostShown));
      }
    }
  }
  std::vector<study::LabelledTimeline> timelines;
  for (const auto& [outcome, series] : shown) {
    acceptance.head.notes.push_back(describe(series));
    append(timelines, series.files);
  }
  acceptance.head.notes.push_back(describe_checks(checked, wrong));
  acceptance.timeline = study::timeline_figure(std::move(timelines), faults_of(input));
}

}  // namespace busbar::judge
