// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/output/describe.hpp"

namespace busbar::judge {
namespace {

/// Adds a line that does not begin where the last one ended.
void add_path(ChartCurve& curve, std::initializer_list<std::pair<double, double>> path) {
  bool first = true;
  for (const auto& [x, y] : path) {
    curve.points.push_back({.x = x, .y = y, .gap_before = std::exchange(first, false)});
  }
}

ChartCurve line_of(std::string title, int colour, double width, int dash = 1) {
  return {.title = std::move(title),
          .kind = CurveKind::Line,
          .style = {.colour = colour, .dash = dash, .width = width}};
}

void keep_used(Chart& chart) {
  std::erase_if(chart.curves, [](const ChartCurve& curve) { return curve.points.empty(); });
}

/// A limit of a bar, and the side where it is missed.
struct Limit {
  std::optional<double> value{};
  double side = -1;
  bool fails = false;
};

std::array<Limit, 4> limits_of(const CheckResult& result) {
  const auto [fail_below, warn_below, warn_above, fail_above] = result.bounds;
  return {{{edge(result, warn_below), -1, false},
           {edge(result, warn_above), 1, false},
           {edge(result, fail_below), -1, true},
           {edge(result, fail_above), 1, true}}};
}

/// The end of the axis for values, launches and limits.
double highest(const Results& results) {
  double most = 0;
  const auto take = [&most](std::optional<double> value) {
    most = std::max(most, finite(value).value_or(0));
  };
  for (const CheckResult* result : results) {
    take(result->value);
    take(result->reference);
    for (const Limit& limit : limits_of(*result)) take(limit.value);
    for (const double launch : result->values) take(launch);
  }
  return most > 0 ? most : 1;
}

Results bars_of(const Results& results) {
  constexpr std::size_t kMostBars = 24;
  constexpr std::size_t kMostOthers = 20;
  if (results.size() <= kMostBars) return results;
  Results passes;
  Results bars;
  for (const CheckResult* result : results) {
    (result->outcome == Outcome::Pass ? passes : bars).push_back(result);
  }
  bars.resize(std::min(bars.size(), kMostOthers));
  const auto [low, high] = std::ranges::minmax_element(
      passes, {}, [](const CheckResult* one) { return finite(one->ratio).value_or(0); });
  if (low != passes.end()) bars.push_back(*low);
  if (high != low) bars.push_back(*high);
  std::ranges::sort(bars);  // all are of one acceptance
  return bars;
}

struct BarMarks {
  ChartCurve launches = line_of("a launch", 0x08306B, 1.5);
  ChartCurve warns = line_of("warns beyond", kWarnColour, 1.6, 2);
  ChartCurve fails = line_of("fails beyond", kFailColour, 2.4);
  ChartCurve references{
      .title = "reference", .kind = CurveKind::Raw, .style = {.colour = 0x1A1A1A, .point = 11}};

  /// The marks of one result, whose bar lies at `row`; feet of limits are in parts of `top`.
  void add(const CheckResult& result, double row, double top) {
    for (const double launch : result.values) {
      if (finite(launch)) add_path(launches, {{launch, row - 0.17}, {launch, row + 0.17}});
    }
    for (const auto& [limit, side, is_fail] : limits_of(result)) {
      if (!limit) continue;
      add_path(
          is_fail ? fails : warns,
          {{*limit, row - 0.42}, {*limit, row + 0.42}, {*limit + side * 0.01 * top, row + 0.42}});
    }
    if (const auto reference = finite(result.reference)) {
      references.points.push_back({.x = *reference, .y = row - 0.38});
    }
  }
};

/// Lying bars of measured values, with marks at limits and thin dark ticks for launches.
Chart bars_chart(const Results& bars, bool one_size) {
  constexpr int kRow = 24;
  constexpr int kAxis = 62;
  const CheckResult& first = *bars.front();
  const std::string axis(unit(first.metric));
  const double top = highest(bars);
  Chart chart{.title = fmt::format("{}: {}", first.rule, first.collective),
              .panels = {{.x = {.title = axis, .high = top * 1.02},
                          .y = {.kind = AxisKind::Names,
                                .low = static_cast<double>(bars.size()) - 0.5,
                                .high = -0.5}}},
              .width = 900,
              .height = kAxis + kRow * static_cast<int>(bars.size())};
  BarMarks marks;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const CheckResult& result = *bars[i];
    const auto row = static_cast<double>(i);
    const std::optional<double> value = finite(result.value);
    chart.panels[0].y.names.push_back(one_size ? result.instance
                                               : result.instance + " " + size_text(result.size));
    if (value) {
      chart.boxes.push_back({.right = *value,
                             .bottom = row - 0.29,
                             .top = row + 0.29,
                             .fill = 0x9ECAE1,
                             .outline = 0x4A7FA5});
    }
    marks.add(result, row, top);
    const std::string outcome(name(result.outcome));
    const bool wrong = result.decided_by == DecidedBy::WrongData;
    chart.texts.push_back({.y = row,
                           .text = wrong   ? outcome + " wrong data"
                                   : value ? fmt::format("{} {} {}", outcome, figure(value), axis)
                                           : outcome,
                           .marker = look_of(result.outcome).marker});
  }
  chart.curves = {marks.launches, marks.warns, marks.fails, marks.references};
  keep_used(chart);
  return chart;
}

Figure waterfall_of(const Results& results) {
  const CheckResult& first = *results.front();
  const bool one_size = std::ranges::all_of(
      results, [&](const CheckResult* other) { return other->size == first.size; });
  const Results bars = bars_of(results);
  return {.chart = bars_chart(bars, one_size),
          .caption =
              fmt::format("{}: {} of {}{}, {} of launches. Bars are measured values; the foot of a "
                          "limit shows on which side it is missed (reference: {}).{}",
                          first.rule, name(first.metric), first.collective,
                          one_size ? " of " + size_text(first.size) : "", name(first.statistic),
                          first.reference_kind.empty() ? "none" : first.reference_kind,
                          bars.size() == results.size()
                              ? ""
                              : fmt::format(" {} of {} are shown.", bars.size(), results.size())),
          .wide = true};
}

/// From the lowest value to the highest, but over a tenth of the highest at least: else mere noise
/// would look like a fault.
ColourScale scale_of(const Results& results) {
  constexpr double kLeastSpan = 0.1;
  constexpr double kApart = 0.08;  // marks closer than this share of the scale overlap
  const std::string axis(unit(results.front()->metric));
  ColourScale scale{.title = axis, .unit = axis, .high = 0};
  std::optional<double> lowest;
  for (const CheckResult* result : results) {
    const std::optional<double> value = finite(result->value);
    if (!value) continue;
    lowest = std::min(*value, lowest.value_or(*value));
    scale.high = std::max(scale.high, *value);
  }
  scale.low = std::min(lowest.value_or(0), scale.high * (1 - kLeastSpan));
  const auto mark = [&](std::optional<double> at, std::string_view what) {
    const double room = kApart * (scale.high - scale.low);
    if (!at || *at < scale.low || *at > scale.high) return;
    for (const ChartTick& known : scale.names) {
      if (std::abs(known.at - *at) < room) return;
    }
    scale.names.push_back({.at = *at, .name = fmt::format("{}{:.3g}", what, *at)});
  };
  const CheckResult& first = *results.front();
  mark(edge(first, first.bounds.fail_below), "fails below ");
  mark(finite(first.reference), "reference ");
  mark(scale.low, "");
  mark(scale.high, "");
  return scale;
}

/// Members on both axes, the names of suspects always.
struct Members {
  std::vector<std::string> names{};
  std::set<std::string> suspects{};
  double cell = 0;  ///< pixels

  [[nodiscard]] double position(const std::string& node) const {
    return static_cast<double>(std::ranges::find(names, node) - names.begin());
  }
  [[nodiscard]] double end() const { return static_cast<double>(names.size()); }
};

Members members_of(const Acceptance& acceptance, const Specification& specification) {
  constexpr double kWidest = 46;
  constexpr double kRoom = 620;  // the widest square in pixels
  Members members{.names = specification.system.nodes};
  if (members.names.empty()) {
    for (const NodeAccount& account : acceptance.nodes) members.names.push_back(account.node);
  }
  for (const Suspect& suspect : acceptance.suspects) {
    if (suspect.nodes.size() == 1) members.suspects.insert(suspect.nodes.front());
  }
  members.cell = std::min(kWidest, std::floor(kRoom / std::max(1.0, members.end())));
  return members;
}

ChartAxis names_axis(const Members& members) {
  constexpr double kReadable = 13;
  const auto every = static_cast<std::size_t>(std::ceil(kReadable / members.cell));
  ChartAxis axis{.kind = AxisKind::Names, .low = -0.5, .high = members.end() - 0.5};
  for (std::size_t i = 0; i < members.names.size(); ++i) {
    const std::string& node = members.names[i];
    axis.names.push_back(i % every == 0 || members.suspects.contains(node) ? node : "");
  }
  return axis;
}

ChartCurve frames_of(const Members& members) {
  ChartCurve frames = line_of("suspect", kFailColour, 2);
  const auto add = [&frames](double left, double right, double low, double high) {
    add_path(frames, {{left, low}, {right, low}, {right, high}, {left, high}, {left, low}});
  };
  for (const std::string& node : members.names) {
    if (!members.suspects.contains(node)) continue;
    const double at = members.position(node);
    add(-0.5, members.end() - 0.5, at - 0.5, at + 0.5);
    add(at - 0.5, at + 0.5, -0.5, members.end() - 0.5);
  }
  return frames;
}

/// By place; several rules may judge one pair: the worst outcome counts.
std::map<std::pair<double, double>, const CheckResult*> worst_of(const Members& members,
                                                                 const Results& results) {
  std::map<std::pair<double, double>, const CheckResult*> worst;
  for (const CheckResult* result : results) {
    const std::pair pair{members.position(result->nodes[0]), members.position(result->nodes[1])};
    if (std::max(pair.first, pair.second) >= members.end()) continue;
    const CheckResult*& known = worst.try_emplace(pair, result).first->second;
    if (known->outcome < result->outcome) known = result;
  }
  return worst;
}

Figure heat_map_of(const Members& members, const Results& results) {
  const CheckResult& first = *results.front();
  ChartCurve cells{.kind = CurveKind::Cells};
  ChartCurve failed = line_of("failed", kFailColour, 2.4);
  bool fails_any = false;
  bool gaps = false;
  for (const auto& [pair, result] : worst_of(members, results)) {
    const std::optional<double> value = finite(result->value);
    const bool fails = result->outcome == Outcome::Fail || result->outcome == Outcome::Known;
    for (const auto& [x, y] : {pair, std::pair{pair.second, pair.first}}) {
      cells.points.push_back({.x = x, .y = y, .low = value});
      gaps = gaps || !value;
      if (!value || !fails) continue;
      fails_any = true;
      // Strokes in the corners of the cell leave room for its value.
      add_path(failed, {{x - 0.45, y - 0.1}, {x - 0.1, y - 0.45}});
      add_path(failed, {{x + 0.1, y + 0.45}, {x + 0.45, y + 0.1}});
    }
  }
  std::size_t longest = 0;
  for (const std::string& node : members.names) longest = std::max(longest, node.size());
  const int side = static_cast<int>(members.cell * members.end());
  const int labels = 8 * static_cast<int>(std::min<std::size_t>(longest, 36));
  const ChartAxis axis = names_axis(members);
  Chart chart{.title = fmt::format("Device set {}: {} of {}", first.device_set, first.collective,
                                   size_text(first.size)),
              .panels = {{.x = axis, .y = axis}},
              .curves = {std::move(cells), std::move(failed), frames_of(members)},
              .colours = scale_of(results),
              .width = std::max(side + labels + 260, 500),
              .height = side + labels + 60};
  std::swap(chart.panels.front().y.low, chart.panels.front().y.high);
  keep_used(chart);
  std::string caption = fmt::format(
      "{}; {} {} in {}. Every pair stands twice, mirrored at the blank diagonal. The scale spans "
      "the measured values, and at least a tenth of the highest.{}{}",
      chart.title, name(first.statistic), name(first.metric), chart.colours->unit,
      fails_any ? " Red strokes in two corners: the pair fails." : "",
      gaps ? " Hatched: no data." : "");
  return {.chart = std::move(chart), .caption = std::move(caption), .wide = true};
}

}  // namespace

std::vector<Figure> waterfalls(const Acceptance& acceptance, const std::string& rule) {
  const auto key_of = [](const CheckResult& one) { return std::pair(one.rule, one.collective); };
  std::vector<Figure> figures;
  for (const Results& results : group_results(acceptance, key_of)) {
    if (results.front()->rule != rule || !is_of_rules(results.front()->metric)) continue;
    const bool measured = std::ranges::any_of(
        results, [](const CheckResult* one) { return finite(one->value) || !one->values.empty(); });
    if (measured) figures.push_back(waterfall_of(results));
  }
  return figures;
}

std::vector<Figure> heat_maps(const Acceptance& acceptance, const Specification& specification) {
  constexpr std::size_t kFewest = 3;
  const Members members = members_of(acceptance, specification);
  std::vector<Figure> figures;
  if (members.names.size() < kFewest) return figures;
  std::map<std::tuple<std::string, std::string, std::string, Bytes, Metric, Statistic>, Results>
      maps;
  for (const CheckResult& result : acceptance.pairs) {
    maps[{result.device_set, result.collective, result.type, result.size, result.metric,
          result.statistic}]
        .push_back(&result);
  }
  for (const auto& [key, results] : maps) {
    Figure map = heat_map_of(members, results);
    if (map.chart.colours->high > 0) figures.push_back(std::move(map));
  }
  return figures;
}

}  // namespace busbar::judge
