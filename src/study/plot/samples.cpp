// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/csv_reader.hpp"
#include "stats/histogram.hpp"
#include "stats/summary.hpp"
#include "study/plot/figures.hpp"

namespace busbar::study {
namespace {

bool are_few(const SampleSet& set) { return set.times_us.size() < kFewSamples; }

/// Steps of an empirical distribution; with few samples its points, in percent.
ChartCurve distribution(const SampleSet& set) {
  std::vector<double> times = set.times_us;
  std::ranges::sort(times);
  const auto count = static_cast<double>(times.size());
  const bool few = are_few(set);
  ChartCurve curve{.title = fmt::format(", n = {}", times.size()),
                   .kind = few ? CurveKind::Raw : CurveKind::Steps};
  if (!few) curve.points.push_back({.x = times.front(), .y = 0});
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Equal samples are one step.
    if (!few && i + 1 < times.size() && times[i + 1] == times[i]) continue;
    const double rank = static_cast<double>(i) + (few ? 0.5 : 1);
    curve.points.push_back({.x = times[i], .y = 100 * rank / count});
  }
  return curve;
}

/// Bins as steps from the axis and back to it.
ChartCurve density(const SampleSet& set) {
  const Histogram histogram = log_histogram(set.times_us);
  ChartCurve curve{.title = fmt::format(", n = {}", set.times_us.size()),
                   .kind = CurveKind::Density};
  if (histogram.beyond > 0) {
    curve.title +=
        fmt::format(", {} of them above {:.4g} µs", histogram.beyond, histogram.edges.back());
  }
  if (histogram.edges.empty()) return curve;
  curve.points.push_back({.x = histogram.edges.front(), .y = 0});
  for (std::size_t i = 0; i < histogram.share.size(); ++i) {
    curve.points.push_back({.x = histogram.edges[i], .y = histogram.density(i)});
  }
  curve.points.push_back({.x = histogram.edges.back(), .y = 0});
  return curve;
}

/// A point of each rank: the median, and the middle half of its times.
ChartCurve medians_of_ranks(const SampleSet& set) {
  ChartCurve curve{.kind = CurveKind::Measured};
  for (const auto& [rank, times_us] : set.times_by_rank_us) {
    std::vector<double> sorted = times_us;
    std::ranges::sort(sorted);
    const std::size_t quarter = sorted.size() / 4;
    curve.points.push_back({.x = static_cast<double>(rank),
                            .y = stats::median(sorted),
                            .low = sorted[quarter],
                            .high = sorted[sorted.size() - 1 - quarter]});
  }
  return curve;
}

/// A few tens of percent of spread: a logarithmic axis would have one name or none.
ChartAxis density_axis(ChartRange times) {
  ChartAxis axis = log_axis("time (µs)", times, std::pow(times.high / times.low, 0.04));
  if (axis.high / axis.low <= 5) axis.kind = AxisKind::Linear;
  return axis;
}

/// All sizes; of more than three the smallest, a middle and the largest; or `wanted` alone.
std::vector<Bytes> sizes_drawn(const std::vector<SampleSet>& sets, std::optional<Bytes> wanted) {
  if (wanted) {
    return any_has(sets, *wanted, &SampleSet::size) ? std::vector{*wanted} : std::vector<Bytes>{};
  }
  const auto known = set_of(sets, &SampleSet::size);
  const std::vector<Bytes> all(known.begin(), known.end());
  return all.size() <= 3 ? all : std::vector{all.front(), all[all.size() / 2], all.back()};
}

bool has_density(const SampleSet& set) {
  return !are_few(set) && std::ranges::all_of(set.times_us, [](double time) { return time > 0; });
}

/// The axes of a panel, by the ranges of its data.
struct PanelAxes {
  ChartAxis x{};
  ChartAxis y{};
};

struct SampleFigure {
  std::string_view name;
  std::string_view title;
  bool (*is_drawn)(const SampleSet& set);
  ChartCurve (*draw)(const SampleSet& set);
  PanelAxes (*axes)(ChartRange x, ChartRange y);
};
constexpr double kHeadroom = 1.06;
constexpr auto kSampleFigures = std::to_array<SampleFigure>({
    {"samples", "Distribution of the samples",
     [](const SampleSet& set) { return !set.times_us.empty(); }, distribution,
     [](ChartRange x, ChartRange) -> PanelAxes {
       return {log_axis("time (µs)", x, 1.2),
               {.title = "samples up to this time (%)", .high = 100}};
     }},
    {"histogram", "Histogram of the samples", has_density, density,
     [](ChartRange x, ChartRange y) -> PanelAxes {
       return {density_axis(x),
               {.title = "density (% of the samples per % of time)", .high = y.high * kHeadroom}};
     }},
    {"ranks", "Time of each rank (the last to arrive has the shortest)",
     [](const SampleSet& set) { return !set.times_by_rank_us.empty(); }, medians_of_ranks,
     [](ChartRange x, ChartRange y) -> PanelAxes {
       return {{.title = "rank", .low = x.low - 0.5, .high = x.high + 0.5},
               {.title = "time (µs)", .high = y.high * kHeadroom}};
     }},
});

/// Where those of the columns stand that there are.
std::vector<std::size_t> positions(const Words& names, const Words& columns) {
  std::vector<std::size_t> found;
  for (const std::string& column : columns) {
    const auto at = std::ranges::find(names, column);
    if (at != names.end()) found.push_back(static_cast<std::size_t>(at - names.begin()));
  }
  return found;
}

/// Where the columns stand, or an empty list where one is missing; the ranks' comes last, if there
/// is one.
std::vector<std::size_t> positions(const std::string& header) {
  const Words names = split(trim(header), ',');
  const Words columns{"collective", "type", "op", "in_place", "size_bytes", "time_us"};
  std::vector<std::size_t> found = positions(names, columns);
  if (found.size() < columns.size()) return {};
  append(found, positions(names, {"rank"}));
  return found;
}

template <class Number>
Number number_of(const std::string& cell, const std::string& place) {
  const auto value = to_number<Number>(cell);
  if (value && *value >= 0) return *value;
  throw usage_error("{}: '{}' cannot be read; give a file that --samples wrote", place, cell);
}

}  // namespace

Chart sample_figure(std::string_view name, std::span<const SampleSet> sets, PlotPlacement placement,
                    std::optional<Bytes> size) {
  const SampleFigure& kind = *std::ranges::find(kSampleFigures, name, &SampleFigure::name);
  Chart figure{.name = std::string(name), .title = std::string(kind.title)};
  const auto wanted = filtered(sets, [&](const SampleSet& set) {
    const bool placed =
        placement == PlotPlacement::Both || set.key.in_place == (placement == PlotPlacement::In);
    return placed && kind.is_drawn(set);
  });
  std::vector<CurveKey> keys;
  for (const Bytes one : sizes_drawn(wanted, size)) {
    const int panel = static_cast<int>(figure.panels.size());
    for (const SampleSet& set : wanted) {
      if (set.size != one) continue;
      figure.curves.push_back(kind.draw(set));
      figure.curves.back().panel = panel;
      keys.push_back(set.key);
      keys.back().ranks = panel;  // names and styles are alike in all panels
    }
    PanelAxes axes = kind.axes(x_range(figure, panel), y_range(figure, panel));
    figure.panels.push_back(
        {.title = format_bytes(one), .x = std::move(axes.x), .y = std::move(axes.y)});
  }
  figure.title = with_common(figure.title, set_looks(keys, figure.curves));
  return figure;
}

bool is_samples_file(const std::string& path) { return !positions(first_line_of(path)).empty(); }

std::vector<SampleSet> read_samples(const std::string& path, const std::string& label) {
  CsvReader reader(path);
  const std::vector<std::size_t> at = positions(reader.columns());
  const std::vector<std::size_t> settings =  // of which older files have none
      positions(split(trim(reader.columns()), ','),
                mapped<std::string>(fields_of(RecordField::Role::Setting), &RecordField::name));
  std::map<std::pair<CurveKey, Bytes>, SampleSet> sets;
  while (reader.next()) {
    const std::vector<std::string>& cells = reader.cells();
    const std::string& place = reader.place();
    if (at.empty() || cells.size() <= *std::ranges::max_element(at)) {
      throw usage_error("{}: too few cells; give a file that --samples wrote", place);
    }
    const CurveKey key{.label = label,
                       .collective = cells[at[0]],
                       .type = cells[at[1]],
                       .op = cells[at[2]],
                       .in_place = cells[at[3]] == "1",
                       .setting = setting_text(mapped(settings, [&](std::size_t i) {
                         return i < cells.size() ? cells[i] : "";
                       }))};
    const auto size = number_of<Bytes>(cells[at[4]], place);
    SampleSet& set = sets[{key, size}];
    set.key = key;
    set.size = size;
    const bool of_ranks = at.size() > 6;
    const int rank = of_ranks ? number_of<int>(cells[at[6]], place) : 0;
    std::vector<double>& times_us = of_ranks ? set.times_by_rank_us[rank] : set.times_us;
    times_us.push_back(number_of<double>(cells[at[5]], place));
  }
  std::vector<SampleSet> all;
  for (auto& [key, set] : sets) all.push_back(std::move(set));
  return all;
}

}  // namespace busbar::study
