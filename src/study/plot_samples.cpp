// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_samples.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "stats/histogram.hpp"

namespace busbar {
namespace {

std::vector<Bytes> sizes_drawn(std::span<const SampleSet> sets, std::optional<Bytes> wanted) {
  std::set<Bytes> known;
  for (const SampleSet& set : sets) known.insert(set.size);
  if (wanted) {
    return known.contains(*wanted) ? std::vector<Bytes>{*wanted} : std::vector<Bytes>{};
  }
  std::vector<Bytes> all(known.begin(), known.end());
  if (all.size() <= 3) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

bool are_few(const SampleSet& set) { return set.times_us.size() < kFewSamples; }

/// Steps of an empirical distribution; with few samples its points, in percent.
ChartCurve distribution(const SampleSet& set, int panel) {
  std::vector<double> times = set.times_us;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  const bool few = are_few(set);
  ChartCurve curve{.panel = panel,
                   .title = fmt::format(", n = {}", set.times_us.size()),
                   .kind = few ? CurveKind::Raw : CurveKind::Steps};
  if (!few) curve.points.push_back({.x = times.front(), .y = 0});
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Equal samples are one step.
    if (!few && i + 1 < times.size() && times[i + 1] == times[i]) continue;
    const double rank = few ? static_cast<double>(i) + 0.5 : static_cast<double>(i) + 1;
    curve.points.push_back({.x = times[i], .y = 100 * rank / count});
  }
  return curve;
}

/// Bins as steps from the axis and back to it.
ChartCurve density(const SampleSet& set, int panel) {
  const Histogram histogram = log_histogram(set.times_us);
  ChartCurve curve{.panel = panel,
                   .title = fmt::format(", n = {}", set.times_us.size()),
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

/// A few tens of percent of spread: a logarithmic axis would have one name or none.
ChartAxis density_axis(ChartRange times) {
  const double margin = std::pow(times.high / times.low, 0.04);
  ChartAxis axis = log_axis("time (µs)", times, margin);
  if (axis.high / axis.low > 5) return axis;
  axis.kind = AxisKind::Linear;
  const double apart = (axis.high - axis.low) / 4;
  const double decade = std::pow(10, std::floor(std::log10(apart)));
  const double digit = apart / decade;
  axis.step = decade * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  return axis;
}

CurveKey key_of(const SampleSet& set) {
  return {.label = set.label,
          .collective = set.collective,
          .type = set.type,
          .op = set.op,
          .in_place = set.in_place};
}

bool is_wanted(const SampleSet& set, PlotPlacement placement) {
  return placement == PlotPlacement::Both || set.in_place == (placement == PlotPlacement::In);
}

/// A panel per size with what `draw` makes of each set.
Chart panels_of(Chart figure, const std::vector<SampleSet>& sets, std::optional<Bytes> size,
                ChartCurve (*draw)(const SampleSet&, int)) {
  std::vector<CurveKey> keys;
  for (const Bytes one : sizes_drawn(sets, size)) {
    const int panel = static_cast<int>(figure.panels.size());
    figure.panels.push_back({.title = format_bytes(one)});
    for (const SampleSet& set : sets) {
      if (set.size != one) continue;
      figure.curves.push_back(draw(set, panel));
      keys.push_back(key_of(set));
      keys.back().ranks = panel;  // names and styles are alike in all panels
    }
  }
  const CurveNames names = curve_names(keys);
  const std::vector<CurveStyle> styles = curve_styles(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    figure.curves[i].title = names.titles[i] + figure.curves[i].title;
    figure.curves[i].style = styles[i];
  }
  if (!names.common.empty()) figure.title += ": " + names.common;
  return figure;
}

constexpr std::array<std::string_view, 6> kColumns{"collective", "type",       "op",
                                                   "in_place",   "size_bytes", "time_us"};

using Key = std::tuple<std::string, std::string, std::string, bool, Bytes>;

/// Where the columns stand, or an empty list where one is missing.
std::vector<std::size_t> positions(const std::string& header) {
  const std::vector<std::string> names = split(trim(header), ',');
  std::vector<std::size_t> found;
  for (const std::string_view column : kColumns) {
    const auto at = std::find(names.begin(), names.end(), column);
    if (at == names.end()) return {};
    found.push_back(static_cast<std::size_t>(std::distance(names.begin(), at)));
  }
  return found;
}

double number_of(const std::string& cell, const std::string& path, int line) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (!cell.empty() && *end == '\0' && value >= 0) return value;
  throw usage_error(
      fmt::format("{}:{}: '{}' is no number; give a file that --samples wrote", path, line, cell));
}

}  // namespace

Chart samples_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                     std::optional<Bytes> size) {
  std::vector<SampleSet> wanted;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(wanted),
               [&](const SampleSet& set) { return is_wanted(set, placement); });
  Chart figure = panels_of({.name = "samples", .title = "Distribution of the samples"}, wanted,
                           size, distribution);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    figure.panels[i].x = log_axis("time (µs)", x_range(figure, static_cast<int>(i)), 1.2);
    figure.panels[i].y = {.title = "samples up to this time (%)", .high = 100};
  }
  return figure;
}

Chart histogram_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                       std::optional<Bytes> size) {
  std::vector<SampleSet> wanted;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(wanted), [&](const SampleSet& set) {
    const auto is_drawable = [](double time) { return time > 0; };
    return is_wanted(set, placement) && !are_few(set) &&
           std::all_of(set.times_us.begin(), set.times_us.end(), is_drawable);
  });
  Chart figure =
      panels_of({.name = "histogram", .title = "Histogram of the samples"}, wanted, size, density);
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const int panel = static_cast<int>(i);
    figure.panels[i].x = density_axis(x_range(figure, panel));
    figure.panels[i].y = {.title = "density (% of the samples per % of time)",
                          .high = y_range(figure, panel).high * 1.06};
  }
  return figure;
}

bool is_samples_file(const std::string& path) { return !positions(first_line_of(path)).empty(); }

std::vector<SampleSet> read_samples(const std::string& path, const std::string& label) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) throw usage_error(fmt::format("cannot read {}", path));
  const std::vector<std::size_t> at = positions(text);
  std::map<Key, std::vector<double>> times;
  for (int line = 2; std::getline(file, text) && !file.eof(); ++line) {
    const std::vector<std::string> cells = split(text, ',');
    if (cells.size() <= *std::max_element(at.begin(), at.end())) {
      throw usage_error(
          fmt::format("{}:{}: too few cells; give a file that --samples wrote", path, line));
    }
    const auto size = static_cast<Bytes>(number_of(cells[at[4]], path, line));
    times[{cells[at[0]], cells[at[1]], cells[at[2]], cells[at[3]] == "1", size}].push_back(
        number_of(cells[at[5]], path, line));
  }
  std::vector<SampleSet> sets;
  for (auto& [key, values] : times) {
    const auto& [collective, type, op, in_place, size] = key;
    sets.push_back({.label = label,
                    .collective = collective,
                    .type = type,
                    .op = op,
                    .in_place = in_place,
                    .size = size,
                    .times_us = std::move(values)});
  }
  return sets;
}

}  // namespace busbar
