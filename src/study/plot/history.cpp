// SPDX-License-Identifier: BSD-3-Clause
#include <ctime>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"
#include "study/plot/figures.hpp"

namespace busbar::study {
namespace {

using StartedRuns = std::multimap<double, Dataset>;

/// One curve's launches by their start, of which several may be the same.
struct StartedCurve {
  double start = 0;
  SizeCurve curve{};
};
using History = std::map<CurveKey, std::vector<StartedCurve>>;

/// Launches on other devices or nodes of the same system belong to one history.
History history_of(const StartedRuns& launches) {
  History history;
  for (const auto& [start, dataset] : launches) {
    for (SizeCurve& curve : size_curves({dataset}, PlotPlacement::Both).curves) {
      CurveKey key = curve.key;
      key.device_set.clear();
      history[key].push_back({start, std::move(curve)});
    }
  }
  std::erase_if(history, [](const auto& curve) { return curve.second.size() < 2; });
  return history;
}

/// The size that most launches have, and of those the largest.
std::optional<Bytes> usual_size(const History& history) {
  std::map<Bytes, int> counts;
  std::optional<Bytes> best;
  for (const auto& [key, launches] : history) {
    for (const auto& [start, curve] : launches) {
      for (const SizePoint& point : curve.points) ++counts[point.size];
    }
  }
  for (const auto& [size, count] : counts) {
    if (!best || count >= counts[*best]) best = size;
  }
  return best;
}

/// Launches that are further apart than twice the usual lack one between them.
double longest_pause(const std::vector<StartedCurve>& launches) {
  constexpr std::size_t kEnough = 4;
  std::vector<double> pauses;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    pauses.push_back(launches[i].start - launches[i - 1].start);
  }
  if (pauses.size() < kEnough) return std::numeric_limits<double>::infinity();
  return 2 * stats::median(pauses);
}

ChartCurve curve_over_time(const std::vector<StartedCurve>& launches, Bytes size) {
  ChartCurve result;
  const double pause = longest_pause(launches);
  double before = launches.front().start;
  bool gap = false;
  for (const auto& [start, curve] : launches) {
    const SizePoint* point = point_at(curve, size);
    gap = gap || start - before > pause || point == nullptr;
    before = start;
    if (point == nullptr) continue;
    result.points.push_back(chart_point(start, point->busbw_GBps, gap && !result.points.empty()));
    gap = false;
  }
  return result;
}

/// "MPICH 4.0.2 -> MPICH 4.1" at the first launch of a system with the new one.
std::vector<ChartMark> version_marks(const StartedRuns& launches) {
  std::map<std::string, const Dataset*> before;
  std::vector<ChartMark> marks;
  for (const auto& [start, dataset] : launches) {
    const Dataset* earlier = std::exchange(before[dataset.label], &dataset);
    for (const Fact& fact : {fact::kLibrary, fact::kBusbar, fact::kDriver, fact::kKernel}) {
      if (earlier == nullptr || earlier->fact(fact) == dataset.fact(fact)) continue;
      marks.push_back(
          {.x = start,
           .text = fmt::format("{}{} \u2192 {}", fact.key == fact::kBusbar.key ? "busbar " : "",
                               earlier->fact(fact), dataset.fact(fact))});
    }
  }
  return marks;
}

}  // namespace

std::optional<double> calendar_seconds(const std::string& text) {
  std::tm time{};
  const char* end = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &time);
  if (!end) return {};
  const auto fraction = *end == '\0' ? std::optional(0.0) : to_number<double>(end);
  if (!fraction) return {};
  return static_cast<double>(timegm(&time)) + *fraction;
}

Chart history_figure(std::vector<Dataset> datasets, PlotPlacement placement,
                     std::optional<Bytes> size, std::optional<bool> logarithmic) {
  keep_collective_rows(datasets, placement);
  StartedRuns launches;  // those without a start are left out
  for (Dataset& dataset : datasets) {
    const auto start = calendar_seconds(dataset.fact(fact::kStarted));
    if (start) launches.emplace(*start, std::move(dataset));
  }
  const History history = history_of(launches);
  if (!size) size = usual_size(history);
  Chart figure{.name = "history"};
  if (!size) return figure;
  std::vector<CurveKey> keys;
  std::set<int> ranks;
  for (const auto& [key, launches_of_key] : history) {
    ChartCurve curve = curve_over_time(launches_of_key, *size);
    if (curve.points.size() < 2) continue;
    keys.push_back(key);
    ranks.insert(key.ranks);
    figure.curves.push_back(std::move(curve));
  }
  if (figure.empty()) return figure;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    figure.curves[i].panel =
        static_cast<int>(std::distance(ranks.begin(), ranks.find(keys[i].ranks)));
  }
  figure.title = with_common(fmt::format("Bus bandwidth at {} over time", format_bytes(*size)),
                             set_looks(keys, figure.curves));
  figure.marks = version_marks(launches);
  const ChartRange times = x_range(figure);
  const double margin = (times.high - times.low) * 0.05 + 1;
  for (const int count : ranks) {
    figure.panels.push_back(
        {.title = counted(count, "rank"),
         .x = {.kind = AxisKind::Time, .low = times.low - margin, .high = times.high + margin}});
  }
  set_rate_axis(figure, logarithmic, -1, 1.1);
  return figure;
}

}  // namespace busbar::study
