// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/timeline_text.hpp"
#include "model/sweep.hpp"
#include "study/plot/figures.hpp"

namespace busbar::study {
namespace {

constexpr int kLevelColour = 0xD55E00;

/// When a run began: on its hosts' clock, and in the series.
struct RunBegin {
  double clock_s = 0;
  double at_s = 0;
};

/// Runs of one kind, one after the other.
struct TimelineSeries {
  std::string title{};
  std::set<std::string> hosts{};
  stats::Timeline timeline{};
  std::vector<RunBegin> begins{};
  double seconds = 0;

  void add(const TimelineFile& run) {
    const auto clock_s = calendar_seconds(value_of(run.facts, fact::kStarted));
    if (clock_s) begins.push_back({*clock_s, seconds});
    timeline.add(run.timeline, seconds);
    seconds += run.seconds;
  }

  /// Where a time of the hosts' clock is; nothing where it is before the first run.
  [[nodiscard]] std::optional<double> position_of(double clock_s) const {
    std::optional<double> position;
    for (std::size_t i = 0; i < begins.size() && begins[i].clock_s <= clock_s; ++i) {
      const double end_s = i + 1 < begins.size() ? begins[i + 1].at_s : seconds;
      position = std::min(begins[i].at_s + clock_s - begins[i].clock_s, end_s);
    }
    return position;
  }
};

/// "h0 h1, allreduce, 64 KiB, 2 ranks, cores 0-1": where and what; the name that it was given
/// stands for where.
std::string title_of(const std::string& label, const Dataset& head) {
  const auto sweep = parse_sweep(head.setting("sizes"));
  const auto ranks = to_number<int>(head.setting("ranks"));
  const std::vector<std::string> parts{
      label.empty() ? head.fact(fact::kHosts) : label, head.setting("collective"),
      sweep ? format_bytes(sweep->first) : "", ranks ? counted(*ranks, "rank") : "",
      head.fact(fact::kDeviceSet)};
  return join(filtered(parts, [](const std::string& part) { return !part.empty(); }), ", ");
}

std::vector<TimelineSeries> series_of(std::vector<LabelledTimeline>& runs) {
  std::ranges::stable_sort(runs, {}, [](const LabelledTimeline& run) {
    return value_of(run.file.facts, fact::kStarted);
  });
  std::vector<TimelineSeries> all;
  for (const LabelledTimeline& run : runs) {
    const Dataset head{.facts = run.file.facts};
    const std::string own = title_of(run.label, head);
    TimelineSeries& series = find_or_add(
        all, [&](const TimelineSeries& one) { return one.title == own; }, {.title = own});
    series.add(run.file);
    for (const std::string& host : split(head.fact(fact::kHosts), ' ')) {
      series.hosts.insert(host.substr(0, host.find(',')));
    }
  }
  return all;
}

int last_panel(const Chart& figure) { return static_cast<int>(figure.panels.size()) - 1; }

void add_line(const TimelineSeries& series, double stats::TimelinePoint::*member, std::string title,
              CurveStyle style, Chart& figure) {
  ChartCurve line{.panel = last_panel(figure),
                  .title = std::move(title),
                  .kind = CurveKind::Line,
                  .style = style};
  for (const stats::TimelinePoint& point : series.timeline.points()) {
    line.points.push_back({.x = point.at_s, .y = point.*member});
  }
  figure.curves.push_back(std::move(line));
}

/// Adds the levels as steps, with what each change is.
void add_levels(const TimelineSeries& series, const stats::LevelScan& scan, Chart& figure) {
  if (scan.changes.empty()) return;
  ChartCurve steps{.panel = last_panel(figure),
                   .title = "level",
                   .kind = CurveKind::Ideal,
                   .style = {.colour = kLevelColour, .width = 2.5}};
  steps.points.push_back({.y = scan.changes.front().before});
  for (const stats::LevelChange& change : scan.changes) {
    const double at_s = change.at == 0 ? 0 : series.timeline.points()[change.at - 1].at_s;
    steps.points.push_back({.x = at_s, .y = change.before});
    steps.points.push_back({.x = at_s, .y = change.after});
    figure.marks.push_back(
        {.x = at_s,
         .text = fmt::format("{} {:+.1f} %: {} to {} \u00b5s", clock_text(at_s),
                             100 * (change.after / change.before - 1), figure_text(change.before),
                             figure_text(change.after)),
         .panel = last_panel(figure),
         .colour = kLevelColour});
  }
  steps.points.push_back({.x = series.seconds, .y = scan.changes.back().after});
  figure.curves.push_back(std::move(steps));
}

void add_slowdowns(const TimelineSeries& series, const stats::SlowdownScan& scan, Chart& figure) {
  const double part_s = series.timeline.part_s();
  ChartCurve points{.panel = last_panel(figure),
                    .title = fmt::format("slowdown, by its slowest {:g} s", part_s),
                    .kind = CurveKind::Raw,
                    .style = {.colour = 0xCC0000, .point = 11}};
  for (const stats::Slowdown& one : scan.slowdowns) {
    points.points.push_back({.x = static_cast<double>(one.at) * part_s, .y = 1e6 / one.lowest});
  }
  if (!points.points.empty()) figure.curves.push_back(std::move(points));
}

/// Marks what went wrong on the hosts of a series; more of them than kMostTexts are lines alone.
void add_faults(const TimelineSeries& series, std::span<const machine::HostFault> faults,
                Chart& figure) {
  constexpr std::size_t kMostTexts = 10;
  constexpr std::size_t kLongest = 60;
  std::size_t texts = 0;
  for (const machine::HostFault& fault : faults) {
    const auto clock_s = calendar_seconds(fault.at);
    const auto at_s = clock_s ? series.position_of(*clock_s) : std::nullopt;
    if (!at_s || !series.hosts.contains(fault.host)) continue;
    const std::string text = fmt::format("{}: {}", fault.host, fault.text);
    figure.marks.push_back({.x = *at_s,
                            .text = ++texts <= kMostTexts ? text.substr(0, kLongest) : "",
                            .panel = last_panel(figure)});
  }
}

/// With room for the marks' texts above the curves.
ChartAxis times_axis(const Chart& figure) {
  constexpr double kMostTimes = 10;  // more make it logarithmic
  const ChartRange times = y_range(figure, last_panel(figure));
  const std::string title = "time of an operation (\u00b5s)";
  const double room = any_has(figure.marks, last_panel(figure), &ChartMark::panel) ? 0.6 : 0.1;
  if (times.high > kMostTimes * times.low) {
    ChartAxis axis = log_axis(title, times, 1.2);
    axis.high *= std::pow(times.high / times.low, room);
    return axis;
  }
  const double margin = std::max(times.high - times.low, times.high * 0.05);
  return {.title = title, .low = times.low - margin * 0.1, .high = times.high + margin * room};
}

}  // namespace

Chart timeline_figure(std::vector<LabelledTimeline> timelines,
                      std::span<const machine::HostFault> faults) {
  Chart figure{.name = "timeline", .title = "Time of the operations of a run"};
  for (const TimelineSeries& series : series_of(timelines)) {
    if (series.timeline.points().empty()) continue;
    figure.panels.push_back({.title = series.title,
                             .x = {.title = "time from the begin (hh:mm:ss)",
                                   .kind = AxisKind::Elapsed,
                                   .high = series.seconds}});
    const stats::TimelineEvents events = stats::find_events(series.timeline);
    add_line(series, &stats::TimelinePoint::p99_us, "99th percentile of an interval",
             {.colour = 0xB0B0B0, .width = 1}, figure);
    add_line(series, &stats::TimelinePoint::median_us, "median of an interval",
             {.colour = 0x0072B2, .width = 1.8}, figure);
    add_levels(series, events.level, figure);
    add_slowdowns(series, events.slowdowns, figure);
    add_faults(series, faults, figure);
    figure.panels.back().y = times_axis(figure);
  }
  return figure;
}

}  // namespace busbar::study
