// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_samples.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

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
PlotCurve distribution(const SampleSet& set, int panel) {
  std::vector<double> times = set.times_us;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  const bool few = are_few(set);
  PlotCurve curve{.panel = panel,
                  .title = fmt::format(", n = {}", set.times_us.size()),
                  .kind = few ? PlotKind::Raw : PlotKind::Steps};
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
PlotCurve density(const SampleSet& set, int panel) {
  const Histogram histogram = log_histogram(set.times_us);
  PlotCurve curve{.panel = panel,
                  .title = fmt::format(", n = {}", set.times_us.size()),
                  .kind = PlotKind::Density};
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
PlotFigure panels_of(PlotFigure figure, const std::vector<SampleSet>& sets,
                     std::optional<Bytes> size, PlotCurve (*draw)(const SampleSet&, int)) {
  std::vector<CurveKey> keys;
  for (const Bytes one : sizes_drawn(sets, size)) {
    const int panel = static_cast<int>(figure.panels.size());
    figure.panels.push_back(format_bytes(one));
    for (const SampleSet& set : sets) {
      if (set.size != one) continue;
      figure.curves.push_back(draw(set, panel));
      keys.push_back(key_of(set));
      keys.back().ranks = panel;  // names and styles are alike in all panels
    }
  }
  const CurveNames names = curve_names(keys);
  const std::vector<PlotStyle> styles = curve_styles(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    figure.curves[i].title = names.titles[i] + figure.curves[i].title;
    figure.curves[i].style = styles[i];
  }
  if (!names.common.empty()) figure.title += ": " + names.common;
  return figure;
}

}  // namespace

PlotFigure samples_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                          std::optional<Bytes> size) {
  std::vector<SampleSet> wanted;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(wanted),
               [&](const SampleSet& set) { return is_wanted(set, placement); });
  return panels_of({.name = "samples", .title = "Distribution of the samples"}, wanted, size,
                   distribution);
}

PlotFigure histogram_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                            std::optional<Bytes> size) {
  std::vector<SampleSet> wanted;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(wanted), [&](const SampleSet& set) {
    const auto is_drawable = [](double time) { return time > 0; };
    return is_wanted(set, placement) && !are_few(set) &&
           std::all_of(set.times_us.begin(), set.times_us.end(), is_drawable);
  });
  return panels_of({.name = "histogram", .title = "Histogram of the samples"}, wanted, size,
                   density);
}

}  // namespace busbar
