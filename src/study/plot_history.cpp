// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_history.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

struct Launch {
  double start = 0;
  std::vector<Dataset> dataset{};  ///< one: what curves_of wants
};

std::vector<Launch> launches_of(std::vector<Dataset> datasets) {
  std::vector<Launch> launches;
  for (Dataset& dataset : datasets) {
    const std::optional<double> start = started_at(dataset);
    if (start) launches.push_back({.start = *start, .dataset = {std::move(dataset)}});
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.start < b.start; });
  return launches;
}

/// Launches on other devices or nodes of the same system belong to one history.
CurveKey history_key(CurveKey key) {
  key.device_set.clear();
  return key;
}

/// One curve's launches by their start, of which several may be the same.
struct StartedCurve {
  double start = 0;
  SizeCurve curve{};
};
using History = std::map<CurveKey, std::vector<StartedCurve>>;

History history_of(const std::vector<Launch>& launches) {
  History history;
  for (const Launch& launch : launches) {
    for (SizeCurve& curve : size_curves(launch.dataset, PlotPlacement::Both).curves) {
      std::vector<StartedCurve>& launches_of_key = history[history_key(curve.key)];
      launches_of_key.push_back({launch.start, std::move(curve)});
    }
  }
  std::erase_if(history, [](const auto& curve) { return curve.second.size() < 2; });
  return history;
}

std::optional<Bytes> usual_size(const History& history) {
  std::map<Bytes, int> counts;
  for (const auto& [key, launches] : history) {
    for (const auto& [start, curve] : launches) {
      for (const SizePoint& point : curve.points) ++counts[point.size];
    }
  }
  std::optional<Bytes> best;
  for (const auto& [size, count] : counts) {
    if (!best || count >= counts[*best]) best = size;
  }
  return best;
}

/// Launches that are further apart than twice the usual lack one between them.
double longest_pause(const std::vector<StartedCurve>& launches) {
  constexpr std::size_t kEnough = 4;
  std::vector<double> pauses;
  for (auto it = launches.begin(); std::next(it) != launches.end(); ++it) {
    pauses.push_back(std::next(it)->start - it->start);
  }
  if (pauses.size() < kEnough) return std::numeric_limits<double>::infinity();
  return 2 * stats::median(pauses);
}

ChartCurve drawn(const std::vector<StartedCurve>& launches, Bytes size) {
  ChartCurve result;
  const double pause = longest_pause(launches);
  double before = launches.front().start;
  bool gap = false;
  for (const auto& [start, curve] : launches) {
    gap = gap || start - before > pause;
    before = start;
    const auto point = std::find_if(curve.points.begin(), curve.points.end(),
                                    [&](const SizePoint& p) { return p.size == size; });
    if (point == curve.points.end()) {
      gap = true;
      continue;
    }
    result.points.push_back({.x = start,
                             .y = point->busbw_GBps,
                             .low = point->busbw_low,
                             .high = point->busbw_high,
                             .gap_before = gap && !result.points.empty()});
    gap = false;
  }
  return result;
}

/// "MPICH 4.0.2 -> MPICH 4.1" at the first launch of a system with the new one.
std::vector<ChartMark> changes(const std::vector<Launch>& launches) {
  constexpr std::array kFacts{"library", "busbar", "driver", "kernel"};
  std::map<std::string, const Dataset*> before;
  std::vector<ChartMark> marks;
  for (const Launch& launch : launches) {
    const Dataset& dataset = launch.dataset.front();
    const Dataset*& earlier = before[dataset.label];
    for (const char* fact : kFacts) {
      if (earlier == nullptr || earlier->fact(fact) == dataset.fact(fact)) continue;
      const std::string prefix = std::string(fact) == "busbar" ? "busbar " : "";
      const std::string text =
          fmt::format("{}{} \u2192 {}", prefix, earlier->fact(fact), dataset.fact(fact));
      marks.push_back({.x = launch.start, .text = text});
    }
    earlier = &dataset;
  }
  return marks;
}

}  // namespace

std::optional<double> started_at(const Dataset& dataset) {
  const std::string text = dataset.fact("started");
  std::tm time{};
  const char* end = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &time);
  if (!end || *end != '\0') return {};
  return static_cast<double>(timegm(&time));
}

Chart history_figure(std::vector<Dataset> datasets, PlotPlacement placement,
                     std::optional<Bytes> size, std::optional<bool> logarithmic) {
  keep_collective_rows(datasets, placement);
  const std::vector<Launch> launches = launches_of(std::move(datasets));
  const History history = history_of(launches);
  if (!size) size = usual_size(history);
  Chart figure{.name = "history"};
  if (!size) return figure;
  std::vector<CurveKey> keys;
  for (const auto& [key, launches_of_key] : history) {
    ChartCurve curve = drawn(launches_of_key, *size);
    if (curve.points.size() < 2) continue;
    keys.push_back(key);
    figure.curves.push_back(std::move(curve));
  }
  const CurveNames names = curve_names(keys);
  const std::vector<CurveStyle> styles = curve_styles(keys);
  std::set<int> ranks;
  for (const CurveKey& key : keys) ranks.insert(key.ranks);
  for (const int count : ranks) {
    figure.panels.push_back({.title = counted(static_cast<std::size_t>(count), "rank")});
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    figure.curves[i].title = names.titles[i];
    figure.curves[i].style = styles[i];
    figure.curves[i].panel =
        static_cast<int>(std::distance(ranks.begin(), ranks.find(keys[i].ranks)));
  }
  figure.title = fmt::format("Bus bandwidth at {} over time{}{}", format_bytes(*size),
                             names.common.empty() ? "" : ": ", names.common);
  if (!figure.empty()) figure.marks = changes(launches);
  const ChartRange times = x_range(figure);
  const double margin = (times.high - times.low) * 0.05 + 1;
  for (ChartPanel& panel : figure.panels) {
    panel.x = {.kind = AxisKind::Time, .low = times.low - margin, .high = times.high + margin};
  }
  static_cast<void>(set_rate_axis(figure, logarithmic, -1, 1.1));
  return figure;
}

}  // namespace busbar
