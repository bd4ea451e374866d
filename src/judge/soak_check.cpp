// SPDX-License-Identifier: BSD-3-Clause
#include "judge/soak_check.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/round_robin.hpp"
#include "base/text.hpp"
#include "format/timeline_file.hpp"
#include "format/timeline_text.hpp"
#include "judge/run/launch_queue.hpp"
#include "judge/sample.hpp"
#include "study/plot/figures.hpp"

namespace busbar::judge {
namespace {

/// All turns of one instance and collective.
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

/// When the interval of this number began.
double start_of(const SoakSeries& series, std::size_t number) {
  return number == 0 ? 0 : series.timeline.points()[number - 1].at_s;
}

std::string blind_below(double least) {
  return fmt::format("changes under {} cannot be distinguished from the run's variation",
                     format_percent(least));
}

std::string too_short(std::size_t count, std::size_t needed) {
  return fmt::format("not judged: {}, {} needed", counted(count, "interval"), needed);
}

/// What is judged, and how much of it is allowed.
struct SoakLimit {
  std::string_view rule;
  Metric metric;
  std::optional<double> most{};
};

constexpr double kPercent = 100;

/// Judges one series.
class SoakJudge {
 public:
  SoakJudge(const JudgeInput& input, const DeviceSetRule& set, const Instance& instance,
            const std::string& collective, const SoakSeries& series,
            std::vector<CheckResult>& results)
      : rule_(*input.specification.soak), series_(series), results_(results) {
    blank_ = {.device_set = set.id,
              .instance = instance.name,
              .nodes = instance.nodes,
              .collective = collective,
              .size = rule_.sizes.front(),
              .attempts = series.turns};
  }

  void judge() {
    add_launches();
    add_wrong();
    if (series_.timeline.points().empty()) return;
    const stats::TimelineEvents events = stats::find_events(series_.timeline);
    if (rule_.level_max) add_level(events.level);
    if (rule_.drift_max) add_drift(events.drift);
    if (rule_.dips_max) add_dips(events.slowdowns);
    if (rule_.recover_s_max) add_recovery(events.slowdowns);
  }

 private:
  void add(const SoakLimit& limit, Outcome outcome, std::string reason,
           std::optional<double> value = {}) {
    CheckResult result = blank_;
    result.rule = limit.rule;
    result.metric = limit.metric;
    result.value = value;
    result.reference = limit.most;
    if (limit.most) result.reference_kind = "[soak]";
    if (limit.most) result.bounds.fail_above = 1;
    result.outcome = outcome;
    result.reason = std::move(reason);
    results_.push_back(std::move(result));
  }

  void add_launches() {
    const std::size_t failed = series_.failures.size();
    const bool none = series_.timeline.points().empty();
    const SoakLimit launches{"soak-launches", Metric::FailedTurns};
    if (failed == 0 && !none) return add(launches, Outcome::Pass, "", 0);
    add(launches, none ? Outcome::Error : Outcome::Fail,
        failed == 0 ? "no data: no interval was measured"
                    : fmt::format("{} of {} failed: {}", failed, counted(series_.turns, "turn"),
                                  series_.failures.front()),
        none ? std::nullopt : std::optional(static_cast<double>(failed)));
    results_.back().decided_by = DecidedBy::FailedLaunches;
  }

  void add_wrong() {
    const SoakLimit wrong{"soak-wrong", Metric::WrongElements};
    if (series_.wrong == 0 && series_.checked == 0) {
      return add(wrong, Outcome::Inconclusive, "no data were checked");
    }
    const bool fails = series_.wrong > 0;
    add(wrong, fails ? Outcome::Fail : Outcome::Pass,
        fails ? counted(series_.wrong, "wrong element") : "", static_cast<double>(series_.wrong));
    if (fails) results_.back().decided_by = DecidedBy::WrongData;
  }

  void add_level(const stats::LevelScan& scan) {
    const std::size_t count = series_.timeline.points().size();
    const SoakLimit level{"soak-level", Metric::Change, kPercent * *rule_.level_max};
    if (scan.needed > 0) {
      return add(level, Outcome::Inconclusive, too_short(count, scan.needed));
    }
    const auto share = [](const stats::LevelChange& one) {
      return std::abs(one.after / one.before - 1);
    };
    const auto worst = std::ranges::max_element(scan.changes, {}, share);
    const double most = worst == scan.changes.end() ? 0 : share(*worst);
    if (most <= *rule_.level_max) {
      if (scan.least > *rule_.level_max) {
        return add(level, Outcome::Inconclusive, blind_below(scan.least));
      }
      return add(level, Outcome::Pass, "", kPercent * most);
    }
    add(level, Outcome::Fail,
        fmt::format("median time {} {} {}, at most {} is allowed", format_percent(most),
                    worst->after > worst->before ? "longer" : "shorter",
                    at_text(start_of(series_, worst->at)), format_percent(*rule_.level_max)),
        kPercent * most);
  }

  void add_drift(const stats::Drift& drift) {
    const SoakLimit limit{"soak-drift", Metric::Change, kPercent * *rule_.drift_max};
    if (drift.needed > 0) {
      return add(limit, Outcome::Inconclusive,
                 too_short(series_.timeline.points().size(), drift.needed));
    }
    const bool fails = drift.found && std::abs(drift.total) > *rule_.drift_max;
    if (!fails && drift.least > *rule_.drift_max) {
      return add(limit, Outcome::Inconclusive, blind_below(drift.least));
    }
    add(limit, fails ? Outcome::Fail : Outcome::Pass,
        fails ? fmt::format("median time drifts by {}, at most {} is allowed",
                            format_percent(drift.total), format_percent(*rule_.drift_max))
              : "",
        drift.found ? kPercent * std::abs(drift.total) : 0);
  }

  void add_dips(const stats::SlowdownScan& scan) {
    const SoakLimit limit{"soak-dips", Metric::Dips, *rule_.dips_max};
    if (scan.needed > 0) return add_short(limit, scan);
    const auto dips = filtered(scan.slowdowns, &stats::Slowdown::is_dip);
    const bool fails = dips.size() > static_cast<std::size_t>(*rule_.dips_max);
    add(limit, fails ? Outcome::Fail : Outcome::Pass,
        fails ? fmt::format(
                    "{} ({}), at most {} allowed", counted(dips.size(), "dip"),
                    join_each(std::span(dips).first(std::min<std::size_t>(dips.size(), 6)), ", ",
                              [&](const stats::Slowdown& dip) {
                                return clock_text(part_seconds(dip.at), true);
                              }),
                    *rule_.dips_max)
              : "",
        static_cast<double>(dips.size()));
  }

  void add_recovery(const stats::SlowdownScan& scan) {
    const double most = *rule_.recover_s_max;
    const SoakLimit limit{"soak-recover", Metric::Recovery, most};
    if (scan.needed > 0) return add_short(limit, scan);
    // Of a fall that did not recover: how long it was watched.
    const auto seconds = [&](const stats::Slowdown& one) {
      return part_seconds(one.recovery.value_or(series_.timeline.rates().size() - one.at));
    };
    const auto worst = std::ranges::max_element(scan.slowdowns, {}, [&](const auto& one) {
      return std::pair(seconds(one) > most, one.recovery ? seconds(one) : HUGE_VAL);
    });
    if (worst == scan.slowdowns.end()) return add(limit, Outcome::Pass, "", 0);
    const double took = seconds(*worst);
    const std::string where = at_text(part_seconds(worst->at));
    if (worst->recovery) {
      const bool fails = took > most;
      return add(limit, fails ? Outcome::Fail : Outcome::Pass,
                 fails ? fmt::format("{:.1f} s to recover {}, at most {:g} s are allowed", took,
                                     where, most)
                       : "",
                 took);
    }
    if (took > most) {
      return add(limit, Outcome::Fail,
                 fmt::format("not recovered {}: it stays at {} of the rate before", where,
                             format_percent(worst->settled / worst->before)));
    }
    add(limit, Outcome::Inconclusive,
        fmt::format("the fall {} was watched for {:.1f} s only: {:g} s are allowed", where, took,
                    most));
  }

  void add_short(const SoakLimit& limit, const stats::SlowdownScan& scan) {
    add(limit, Outcome::Inconclusive,
        fmt::format("not judged: {}, {} needed", counted(series_.timeline.rates().size(), "part"),
                    scan.needed));
  }

  /// To a tenth, which no part is shorter than.
  [[nodiscard]] double part_seconds(std::size_t parts) const {
    constexpr double kTenths = 10;
    return std::round(kTenths * static_cast<double>(parts) * series_.timeline.part_s()) / kTenths;
  }

  const SoakRule& rule_;
  const SoakSeries& series_;
  std::vector<CheckResult>& results_;
  CheckResult blank_{};
};

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

/// The nodes of those that fail.
std::vector<Suspect> suspects_of(std::span<const CheckResult> results) {
  std::vector<Suspect> suspects;
  for (const CheckResult& result : results) {
    if (result.outcome != Outcome::Fail) continue;
    const Defect defect = result.decided_by == DecidedBy::WrongData        ? Defect::WrongData
                          : result.decided_by == DecidedBy::FailedLaunches ? Defect::FailedLaunches
                                                                           : Defect::Slow;
    suspects.push_back({.nodes = result.nodes,
                        .rule = result.rule,
                        .evidence = fmt::format("{}: {}", result.collective, result.reason),
                        .defect = defect});
  }
  return suspects;
}

}  // namespace

std::vector<std::vector<Instance>> soaked_rounds(const DeviceSetRule& set,
                                                 std::span<const std::string> nodes) {
  if (set.kind != SetKind::Pairwise) return {instances_of(set, nodes)};
  return mapped(round_robin(nodes.size()), [&](const RoundOfPairs& round) {
    return mapped(round, [&](const NumberPair& pair) {
      const std::vector<std::string> both{nodes[pair.first], nodes[pair.second]};
      return Instance{.name = join(both, "+"), .nodes = both};
    });
  });
}

std::string timeline_path(const std::string& csv) {
  const std::filesystem::path path(csv);
  return (path.parent_path() / "timelines" / path.filename()).string();
}

void judge_soak(const JudgeInput& input, Acceptance& acceptance) {
  constexpr std::size_t kMostShown = 8;
  const Specification& specification = input.specification;
  std::vector<CheckResult>& results = acceptance.verdicts;
  std::vector<std::pair<Outcome, SoakSeries>> shown;  // the worst
  Bytes checked = 0;
  std::uint64_t wrong = 0;
  for (const DeviceSetRule& set : specification.device_sets) {
    std::vector<Instance> instances;
    for (const auto& round : soaked_rounds(set, input.nodes)) append(instances, round);
    for (const std::string& collective : collectives_of(specification, set.id)) {
      for (const Instance& instance : instances) {
        SoakSeries series = series_of(input, set, instance, collective);
        const std::size_t before = results.size();
        SoakJudge(input, set, instance, collective, series, results).judge();
        checked += series.checked;
        wrong += series.wrong;
        if (series.timeline.points().empty()) continue;
        series.title += " " + collective;
        const auto worst =
            std::ranges::max_element(std::span(results).subspan(before), {}, &CheckResult::outcome);
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
  acceptance.suspects = suspects_of(results);
}

}  // namespace busbar::judge
