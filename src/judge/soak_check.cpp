// SPDX-License-Identifier: BSD-3-Clause
#include "judge/soak_check.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/round_robin.hpp"
#include "base/text.hpp"
#include "format/timeline_file.hpp"
#include "format/timeline_text.hpp"
#include "judge/run/launch_queue.hpp"
#include "judge/sample.hpp"

namespace busbar::judge {
namespace {

/// All turns of one instance and collective.
struct SoakSeries {
  stats::Timeline timeline{};
  double seconds = 0;
  Bytes checked = 0;
  std::uint64_t wrong = 0;
  std::vector<std::string> failures{};  ///< of turns that hung or crashed, or have no data
  std::size_t turns = 0;

  /// Turns follow each other without the time between them.
  void add(const TimelineFile& turn) {
    timeline.add(turn.timeline, seconds);
    for (const TimelineInterval& interval : turn.intervals) {
      checked += interval.checked_bytes;
      wrong += interval.wrong;
    }
    if (!turn.intervals.empty()) seconds += turn.intervals.back().at_s;
  }
};

void add_turn(SoakSeries& series, const Observation& launch) {
  if (launch.failure == kInterrupted) return;
  ++series.turns;
  if (!launch.failure.empty()) series.failures.push_back(launch.failure);
  const std::string path = timeline_path(launch.file);
  if (launch.file.empty() || !std::filesystem::exists(path)) {
    if (launch.failure.empty()) series.failures.push_back(launch.file + " has no timeline");
    return;
  }
  series.add(read_timeline(path));
}

SoakSeries series_of(const JudgeInput& input, const DeviceSetRule& set, const Instance& instance,
                     const std::string& collective) {
  SoakSeries series;
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

std::string too_short(std::size_t count, std::size_t needed, double least) {
  return fmt::format("not judged: {}, {} needed; changes under {} could not have been detected",
                     counted(count, "interval"), needed, format_percent(least));
}

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
              .metric = Metric::None,
              .attempts = series.turns};
  }

  void judge() {
    add_launches();
    add("soak-wrong", series_.wrong > 0 ? Outcome::Fail : Outcome::Pass,
        series_.wrong > 0 ? counted(series_.wrong, "wrong element") : "",
        static_cast<double>(series_.wrong));
    if (series_.wrong > 0) results_.back().decided_by = DecidedBy::WrongData;
    if (series_.timeline.points().empty()) return;
    const stats::TimelineEvents events = stats::find_events(series_.timeline);
    if (rule_.level_max) add_level(events.level);
    if (rule_.drift_max) add_drift(events.drift);
    if (rule_.dips_max) add_dips(events.slowdowns);
    if (rule_.recover_s_max) add_recovery(events.slowdowns);
  }

 private:
  void add(std::string rule, Outcome outcome, std::string reason, std::optional<double> value = 0) {
    CheckResult result = blank_;
    result.value = value;
    result.rule = std::move(rule);
    result.outcome = outcome;
    result.reason = std::move(reason);
    results_.push_back(std::move(result));
  }

  void add_launches() {
    const std::size_t failed = series_.failures.size();
    const bool none = series_.timeline.points().empty();
    if (failed == 0 && !none) return add("soak-launches", Outcome::Pass, "");
    const std::string first = failed == 0 ? "no turn was made" : series_.failures.front();
    add("soak-launches", none ? Outcome::Error : Outcome::Fail,
        failed == 0
            ? "no data: " + first
            : fmt::format("{} of {} failed: {}", failed, counted(series_.turns, "turn"), first),
        none ? std::nullopt : std::optional(static_cast<double>(failed)));
    results_.back().decided_by = DecidedBy::FailedLaunches;
  }

  void add_level(const stats::LevelScan& scan) {
    const std::size_t count = series_.timeline.points().size();
    if (scan.needed > 0) {
      return add("soak-level", Outcome::Inconclusive, too_short(count, scan.needed, scan.least));
    }
    const auto share = [](const stats::LevelChange& one) {
      return std::abs(one.after / one.before - 1);
    };
    const auto worst = std::ranges::max_element(scan.changes, {}, share);
    if (worst == scan.changes.end() || share(*worst) <= *rule_.level_max) {
      const bool blind = scan.least > *rule_.level_max;
      return add("soak-level", blind ? Outcome::Inconclusive : Outcome::Pass,
                 blind ? blind_below(scan.least) : "");
    }
    add("soak-level", Outcome::Fail,
        fmt::format("median time {} {} {}, at most {} is allowed", format_percent(share(*worst)),
                    worst->after > worst->before ? "longer" : "shorter",
                    at_text(start_of(series_, worst->at)), format_percent(*rule_.level_max)),
        share(*worst));
  }

  void add_drift(const stats::Drift& drift) {
    if (drift.needed > 0) {
      return add("soak-drift", Outcome::Inconclusive,
                 too_short(series_.timeline.points().size(), drift.needed, drift.least));
    }
    const bool fails = drift.found && std::abs(drift.total) > *rule_.drift_max;
    if (!fails && drift.least > *rule_.drift_max) {
      return add("soak-drift", Outcome::Inconclusive, blind_below(drift.least));
    }
    add("soak-drift", fails ? Outcome::Fail : Outcome::Pass,
        fails ? fmt::format("median time drifts by {}, at most {} is allowed",
                            format_percent(drift.total), format_percent(*rule_.drift_max))
              : "",
        drift.found ? std::abs(drift.total) : 0);
  }

  void add_dips(const stats::SlowdownScan& scan) {
    if (scan.needed > 0) return add_short("soak-dips", scan);
    const auto dips = filtered(scan.slowdowns, &stats::Slowdown::is_dip);
    const bool fails = dips.size() > static_cast<std::size_t>(*rule_.dips_max);
    add("soak-dips", fails ? Outcome::Fail : Outcome::Pass,
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
    if (scan.needed > 0) return add_short("soak-recover", scan);
    std::optional<std::string> unseen;
    for (const stats::Slowdown& one : scan.slowdowns) {
      const std::string where = at_text(part_seconds(one.at));
      if (one.recovery && part_seconds(*one.recovery) <= *rule_.recover_s_max) continue;
      const double watched = part_seconds(series_.timeline.rates().size() - one.at);
      if (!one.recovery && watched <= *rule_.recover_s_max) {
        unseen = fmt::format("the fall {} was watched for {:.1f} s only: {:g} s are allowed", where,
                             watched, *rule_.recover_s_max);
        continue;
      }
      return add("soak-recover", Outcome::Fail,
                 one.recovery
                     ? fmt::format("{:.1f} s to recover {}, at most {:g} s are allowed",
                                   part_seconds(*one.recovery), where, *rule_.recover_s_max)
                     : fmt::format("not recovered {}: it stays at {} of the rate before", where,
                                   format_percent(one.settled / one.before)));
    }
    if (unseen) return add("soak-recover", Outcome::Inconclusive, *unseen);
    add("soak-recover", Outcome::Pass, "");
  }

  void add_short(std::string rule, const stats::SlowdownScan& scan) {
    add(std::move(rule), Outcome::Inconclusive,
        fmt::format("not judged: {}, {} needed", counted(series_.timeline.rates().size(), "part"),
                    scan.needed));
  }

  [[nodiscard]] double part_seconds(std::size_t parts) const {
    return static_cast<double>(parts) * series_.timeline.part_s();
  }

  const SoakRule& rule_;
  const SoakSeries& series_;
  std::vector<CheckResult>& results_;
  CheckResult blank_{};
};

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

std::vector<CheckResult> judge_soak(const JudgeInput& input, std::vector<std::string>& notes) {
  constexpr std::size_t kMostDescribed = 8;
  const Specification& specification = input.specification;
  std::vector<CheckResult> results;
  Bytes checked = 0;
  std::uint64_t wrong = 0;
  std::size_t described = 0;
  for (const DeviceSetRule& set : specification.device_sets) {
    std::vector<Instance> instances;
    for (const auto& round : soaked_rounds(set, input.nodes)) append(instances, round);
    for (const std::string& collective : collectives_of(specification, set.id)) {
      for (const Instance& instance : instances) {
        const SoakSeries series = series_of(input, set, instance, collective);
        SoakJudge(input, set, instance, collective, series, results).judge();
        checked += series.checked;
        wrong += series.wrong;
        if (series.timeline.points().empty() || ++described > kMostDescribed) continue;
        const auto lines = describe_events(series.timeline, stats::find_events(series.timeline));
        notes.push_back(fmt::format("{} {} {}, {} of {}: {}", set.id, instance.name, collective,
                                    counted(series.turns, "turn"), clock_text(series.seconds),
                                    join(lines, "; ")));
      }
    }
  }
  notes.push_back(describe_checks(checked, wrong));
  return results;
}

std::vector<Suspect> soak_suspects(std::span<const CheckResult> results) {
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

}  // namespace busbar::judge
