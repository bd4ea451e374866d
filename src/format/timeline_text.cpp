// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_text.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

using Points = std::vector<stats::TimelinePoint>;

/// A change that has no more intervals behind it may not last.
constexpr std::size_t kFewAfter = 10;

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

double start_of(const Points& points, std::size_t number) {
  return number == 0 ? 0 : points[number - 1].at_s;
}

std::string too_few(std::string_view kind, std::size_t count, std::size_t needed) {
  return fmt::format("{}: not judged ({}, {} needed)", kind, counted(count, "interval"), needed);
}

/// Of a run that varies much, "none of 540 % or more" would be true and misleading.
std::string nothing_found(std::string_view kind, std::string_view what, double least,
                          std::string_view in = {}) {
  constexpr double kNoisy = 0.5;
  const std::string size = fmt::format("{} or more{}", percent_text(least), in);
  if (least < kNoisy) return fmt::format("{}: {} of {}", kind, what, size);
  return fmt::format("{}: too noisy: only changes of {} would have been seen", kind, size);
}

void describe_level(const stats::LevelScan& scan, const Points& points,
                    std::vector<std::string>& lines) {
  if (scan.needed > 0) {
    lines.push_back(too_few("level", points.size(), scan.needed));
    return;
  }
  for (std::size_t i = 0; i < scan.changes.size(); ++i) {
    const stats::LevelChange& change = scan.changes[i];
    const double share = change.after / change.before - 1;
    const bool last = i + 1 == scan.changes.size();
    lines.push_back(
        fmt::format("level: median time {} {} from {} to {}; {} us before, {} us after",
                    percent_text(std::abs(share)), share > 0 ? "longer" : "shorter",
                    clock_text(start_of(points, change.at)),
                    last ? "the end" : clock_text(start_of(points, scan.changes[i + 1].at)),
                    figure_text(change.before), figure_text(change.after)));
    if (last && points.size() - change.at <= kFewAfter) {
      lines.back() += "; the run ended soon after";
    }
  }
  if (scan.changes.empty()) {
    lines.push_back(nothing_found("level", "no lasting change", scan.least));
  } else {
    lines.push_back(fmt::format(
        "level: other changes under {} cannot be distinguished from the run's variation",
        percent_text(scan.least)));
  }
}

std::string describe_drift(const stats::Drift& drift, std::size_t count) {
  if (drift.needed > 0) return too_few("drift", count, drift.needed);
  if (!drift.found) return nothing_found("drift", "none", drift.least);
  return fmt::format("drift: median time {} {} from the begin to the end",
                     percent_text(std::abs(drift.total)), drift.total > 0 ? "longer" : "shorter");
}

std::string describe_slowdown(const stats::Slowdown& slowdown, double part_s, std::size_t parts) {
  const auto seconds = [=](std::size_t count) { return static_cast<double>(count) * part_s; };
  const std::string settled = format_percent(slowdown.settled / slowdown.before);
  const std::size_t left = parts - slowdown.at;
  const bool ended = left <= stats::kLongestRecovery;
  std::string end;
  if (slowdown.recovery) {
    end = fmt::format("recovered after {:.1f} s (+-{:.1f}) to within {}; held 10 s: {}",
                      seconds(*slowdown.recovery), part_s, percent_text(slowdown.tolerance),
                      !slowdown.held   ? "the run ended"
                      : *slowdown.held ? "yes"
                                       : "no, stays at " + settled);
  } else if (ended && slowdown.settled >= slowdown.before * (1 - slowdown.tolerance)) {
    end =
        fmt::format("back to {}, but the run ended after {:.1f} s, too early to call it recovered",
                    settled, seconds(left));
  } else {
    end = fmt::format(
        "not recovered to within {} in {:.1f} s{}, stays at {}", percent_text(slowdown.tolerance),
        seconds(std::min(left, stats::kLongestRecovery)), ended ? " (run ended)" : "", settled);
  }
  return fmt::format("slowdown at {}: from {} operations/s to {}, {}",
                     clock_text(seconds(slowdown.at), true), figure_text(slowdown.before),
                     format_percent(slowdown.lowest / slowdown.before), end);
}

void describe_slowdowns(const stats::Timeline& timeline, const stats::TimelineEvents& events,
                        std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 5;
  const double part_s = timeline.part_s();
  const stats::SlowdownScan& scan = events.slowdowns;
  const std::size_t parts = timeline.rates().size();
  if (scan.needed > 0) {
    lines.push_back(fmt::format("slowdowns: not judged ({} of {:g} s, {} needed)",
                                counted(parts, "part"), part_s, scan.needed));
    return;
  }
  auto slowdowns = scan.slowdowns;
  const std::size_t dips = count_of(slowdowns, &stats::Slowdown::is_dip);
  if (slowdowns.empty()) {
    lines.push_back(
        nothing_found("slowdowns", "none", scan.least, fmt::format(" in {:g} s", part_s)));
    return;
  }
  std::string text =
      fmt::format("slowdowns: {} (a {:g} s part at least {} slower); {} lasted at most {:g} s",
                  slowdowns.size(), part_s, percent_text(scan.least), dips,
                  static_cast<double>(stats::Slowdown::kLongestDip) * part_s);
  if (events.period) {
    text += fmt::format("; about every {} s ({} of {} gaps)",
                        format_figure(events.period->length * part_s), events.period->on_time,
                        events.period->gaps);
  }
  lines.push_back(text);
  const std::size_t shown = std::min(kMost, slowdowns.size());
  const auto depth = [](const stats::Slowdown& each) { return each.lowest / each.before; };
  std::ranges::stable_sort(slowdowns, {}, depth);
  slowdowns.resize(shown);
  std::ranges::sort(slowdowns, {}, &stats::Slowdown::at);
  for (const auto& each : slowdowns) lines.push_back(describe_slowdown(each, part_s, parts));
}

/// "2.1 TB", of 10^12 bytes.
std::string decimal_bytes(double bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{} {}", format_figure(bytes), kUnits.at(unit));
}

}  // namespace

std::string clock_text(double seconds, bool tenths) {
  const auto tenth = static_cast<std::int64_t>(std::floor(seconds * 10 + 1e-6));
  const std::string text =
      fmt::format("{:02}:{:02}:{:02}", tenth / 36000, tenth / 600 % 60, tenth / 10 % 60);
  return tenths ? fmt::format("{}.{}", text, tenth % 10) : text;
}

std::vector<std::string> describe_events(const stats::Timeline& timeline,
                                         const stats::TimelineEvents& events) {
  std::vector<std::string> lines;
  const Points& points = timeline.points();
  describe_level(events.level, points, lines);
  lines.push_back(describe_drift(events.drift, points.size()));
  describe_slowdowns(timeline, events, lines);
  return lines;
}

std::string describe_checks(Bytes checked, std::uint64_t wrong) {
  if (checked == 0) return "no data checked";
  const auto bytes = static_cast<double>(checked);
  if (wrong > 0) {
    return fmt::format("{} checked, {} wrong", decimal_bytes(bytes), counted(wrong, "element"));
  }
  return fmt::format("{} checked, none wrong: fewer than {:.1e} errors per byte (95 %)",
                     decimal_bytes(bytes), stats::highest_error_rate(bytes));
}

std::string describe_tail(const stats::TimeHistogram& times) {
  constexpr double kShare = 0.999;
  const auto interval = times.quantile_interval(kShare);
  if (!interval) {
    return fmt::format("p99.9: too few samples ({})", times.count());
  }
  return fmt::format("p99.9: {} us (95 %: {} to {}) of {} samples",
                     figure_text(times.quantile(kShare)), figure_text(interval->low),
                     figure_text(interval->high), times.count());
}

}  // namespace busbar
