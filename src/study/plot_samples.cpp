// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_samples.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

std::vector<Bytes> sizes_drawn(std::span<const SampleSet> sets, std::optional<Bytes> wanted) {
  std::set<Bytes> known;
  for (const SampleSet& set : sets) known.insert(set.size);
  if (wanted) {
    return known.contains(*wanted) ? std::vector<Bytes>{*wanted} : std::vector<Bytes>{};
  }
  const std::vector<Bytes> all(known.begin(), known.end());
  if (all.size() <= 3) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

/// Steps of an empirical distribution; with few samples its points, in percent.
PlotCurve drawn(const SampleSet& set, int panel) {
  std::vector<double> times = set.times_us;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  const bool few = times.size() < kFewSamples;
  PlotCurve curve{.panel = panel, .kind = few ? PlotKind::Raw : PlotKind::Steps};
  if (!few) curve.points.push_back({.x = times.front(), .y = 0});
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Equal samples are one step.
    if (!few && i + 1 < times.size() && times[i + 1] == times[i]) continue;
    const double rank = few ? static_cast<double>(i) + 0.5 : static_cast<double>(i) + 1;
    curve.points.push_back({.x = times[i], .y = 100 * rank / count});
  }
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

}  // namespace

PlotFigure samples_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                          std::optional<Bytes> size) {
  std::vector<SampleSet> wanted;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(wanted),
               [&](const SampleSet& set) { return is_wanted(set, placement); });
  std::vector<CurveKey> keys;
  PlotFigure figure{.name = "samples"};
  for (const Bytes one : sizes_drawn(wanted, size)) {
    const int panel = static_cast<int>(figure.panels.size());
    figure.panels.push_back(format_bytes(one));
    for (const SampleSet& set : wanted) {
      if (set.size != one) continue;
      PlotCurve curve = drawn(set, panel);
      curve.title = fmt::format(", n = {}", set.times_us.size());
      figure.curves.push_back(std::move(curve));
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
  figure.title = fmt::format("Distribution of the samples{}{}", names.common.empty() ? "" : ": ",
                             names.common);
  return figure;
}

}  // namespace busbar
