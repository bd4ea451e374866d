// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/output/describe.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kMostBars = 24;
constexpr std::size_t kMostOthers = 20;
constexpr int kFailColour = 0xB00020;
constexpr int kWarnColour = 0xA65D00;

using Verdicts = std::vector<const CheckResult*>;
using MapKey = std::tuple<std::string, std::string, std::string, Bytes, Metric, Statistic>;
using Pair = std::pair<std::size_t, std::size_t>;

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

/// Every outcome has a shape of its own, beside the outcome itself.
CurveStyle style_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return {.colour = 0x00735C, .point = 7};
    case Outcome::Warn: return {.colour = kWarnColour, .point = 9};
    case Outcome::Fail: return {.colour = kFailColour, .point = 15};
    case Outcome::Error: return {.colour = kFailColour, .point = 5};
    case Outcome::Inconclusive: return {.colour = 0x555555, .point = 12};
    case Outcome::Known: return {.colour = 0x0B5394, .point = 11};
    case Outcome::Skip: break;
  }
  return {.colour = 0x777777, .point = 1};
}

/// Lying bars of measured values on one scale that begins at 0, with marks at each bar's limits.
class Waterfall {
 public:
  Waterfall(std::string title, std::string unit, double top) : top_(top), unit_(std::move(unit)) {
    chart_ = {
        .title = std::move(title),
        .panels = {{.x = {.title = unit_, .high = top * 1.02}, .y = {.kind = AxisKind::Names}}},
        .width = 900};
  }

  /// `launches`: thin dark ticks on the bar.
  void add(const CheckResult& verdict, std::string label, std::optional<double> value,
           const std::string& words, Outcome outcome, const std::vector<double>& launches) {
    const auto row = static_cast<double>(rows().names.size());
    rows().names.push_back(std::move(label));
    if (value) {
      chart_.boxes.push_back({.right = *value,
                              .bottom = row - 0.29,
                              .top = row + 0.29,
                              .fill = 0x9ECAE1,
                              .outline = 0x4A7FA5});
    }
    std::set<long> drawn;  // thousands of launches have the same place
    for (const double launch : launches) {
      if (!finite(launch) || !drawn.insert(std::lround(launch / top_ * 1000)).second) continue;
      add_path(launches_, {{launch, row - 0.17}, {launch, row + 0.17}});
    }
    add_limits(verdict, row);
    chart_.texts.push_back(
        {.y = row,
         .text = value ? fmt::format("{} {} {}", words, figure(value), unit_) : words,
         .marker = style_of(outcome),
         .beside = true});
  }

  Chart finish() {
    constexpr int kRow = 24;
    constexpr int kAxis = 62;
    const auto count = static_cast<int>(rows().names.size());
    rows().low = count - 0.5;
    rows().high = -0.5;
    chart_.height = kAxis + kRow * count;
    chart_.curves = {std::move(launches_), std::move(warns_), std::move(fails_),
                     std::move(references_)};
    keep_used(chart_);
    return std::move(chart_);
  }

 private:
  [[nodiscard]] ChartAxis& rows() { return chart_.panels.front().y; }

  /// An upright line with a foot on the side where the limit is missed.
  void add_limit(ChartCurve& curve, std::optional<double> limit, double row, double side) const {
    if (!limit) return;
    add_path(
        curve,
        {{*limit, row - 0.42}, {*limit, row + 0.42}, {*limit + side * 0.01 * top_, row + 0.42}});
  }
  void add_limits(const CheckResult& verdict, double row) {
    const Bounds& bounds = verdict.bounds;
    add_limit(warns_, edge(verdict, bounds.warn_below), row, -1);
    add_limit(warns_, edge(verdict, bounds.warn_above), row, 1);
    add_limit(fails_, edge(verdict, bounds.fail_below), row, -1);
    add_limit(fails_, edge(verdict, bounds.fail_above), row, 1);
    if (const auto reference = finite(verdict.reference)) {
      references_.points.push_back({.x = *reference, .y = row - 0.38});
    }
  }

  Chart chart_{};
  double top_;
  std::string unit_;
  ChartCurve launches_ = line_of("a launch", 0x08306B, 1.5);
  ChartCurve warns_ = line_of("warns beyond", kWarnColour, 1.6, 2);
  ChartCurve fails_ = line_of("fails beyond", kFailColour, 2.4);
  ChartCurve references_{
      .title = "reference", .kind = CurveKind::Raw, .style = {.colour = 0x1A1A1A, .point = 11}};
};

double highest(const Verdicts& verdicts) {
  double most = 0;
  for (const CheckResult* verdict : verdicts) {
    const Bounds& bounds = verdict->bounds;
    for (const std::optional<double>& value :
         {finite(verdict->value), finite(verdict->reference), edge(*verdict, bounds.fail_below),
          edge(*verdict, bounds.warn_below), edge(*verdict, bounds.warn_above),
          edge(*verdict, bounds.fail_above)}) {
      most = std::max(most, value.value_or(0));
    }
    for (const double launch : verdict->values) most = std::max(most, finite(launch).value_or(0));
  }
  return most > 0 ? most : 1;
}

bool ratio_below(const CheckResult* a, const CheckResult* b) {
  return finite(a->ratio).value_or(0) < finite(b->ratio).value_or(0);
}

/// The launches of what has no bar, on one line.
void add_others(Waterfall& waterfall, const Verdicts& others) {
  const auto worst = std::max_element(
      others.begin(), others.end(),
      [](const CheckResult* a, const CheckResult* b) { return a->outcome < b->outcome; });
  const Outcome outcome = (*worst)->outcome;
  std::vector<double> launches;
  for (const CheckResult* verdict : others) {
    launches.insert(launches.end(), verdict->values.begin(), verdict->values.end());
  }
  waterfall.add(*others.front(), fmt::format("{} others: launches", others.size()), {},
                fmt::format("{}{}", outcome == Outcome::Pass ? "" : "up to ", name(outcome)),
                outcome, launches);
}

/// Which have bars of their own, in their order.
std::vector<bool> chosen_of(const Verdicts& verdicts) {
  std::vector<bool> chosen(verdicts.size(), verdicts.size() <= kMostBars);
  if (verdicts.size() <= kMostBars) return chosen;
  std::size_t others = 0;
  Verdicts passes;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i]->outcome == Outcome::Pass) {
      passes.push_back(verdicts[i]);
    } else {
      chosen[i] = others++ < kMostOthers;
    }
  }
  if (passes.empty()) return chosen;
  const auto [low, high] = std::minmax_element(passes.begin(), passes.end(), ratio_below);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i] == *low || verdicts[i] == *high) chosen[i] = true;
  }
  return chosen;
}

bool is_measured(const Verdicts& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const CheckResult* verdict) {
    return finite(verdict->value) || !verdict->values.empty();
  });
}

Figure waterfall_of(const Verdicts& verdicts) {
  const CheckResult& first = *verdicts.front();
  const bool one_size =
      std::all_of(verdicts.begin(), verdicts.end(),
                  [&](const CheckResult* other) { return other->size == first.size; });
  Waterfall waterfall(fmt::format("{}: {}", first.rule, first.collective),
                      std::string(unit(first.metric)), highest(verdicts));
  const std::vector<bool> chosen = chosen_of(verdicts);
  Verdicts others;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const CheckResult& verdict = *verdicts[i];
    if (!chosen[i]) {
      others.push_back(&verdict);
      continue;
    }
    waterfall.add(
        verdict, one_size ? verdict.instance : verdict.instance + " " + size_words(verdict.size),
        finite(verdict.value), std::string(name(verdict.outcome)), verdict.outcome, verdict.values);
  }
  if (!others.empty()) add_others(waterfall, others);
  return {.chart = waterfall.finish(),
          .caption = fmt::format(
              "{}: {} of {}{}, {} of launches. Bars are measured values; the foot of a limit shows "
              "on which side it is missed (reference: {}).",
              first.rule, name(first.metric), first.collective,
              one_size ? " of " + size_words(first.size) : "", name(first.statistic),
              first.reference_kind.empty() ? "none" : first.reference_kind),
          .wide = true};
}

std::vector<std::string> members_of(const Acceptance& acceptance,
                                    const Specification& specification) {
  if (!specification.system.nodes.empty()) return specification.system.nodes;
  std::vector<std::string> names;
  for (const NodeAccount& account : acceptance.nodes) names.push_back(account.node);
  return names;
}

/// Several rules may judge one pair: the worst outcome counts.
std::map<Pair, const CheckResult*> pairs_of(const Verdicts& verdicts,
                                            const std::vector<std::string>& members) {
  std::map<Pair, const CheckResult*> worst;
  const auto number_of = [&](const std::string& node) {
    return static_cast<std::size_t>(
        std::distance(members.begin(), std::find(members.begin(), members.end(), node)));
  };
  for (const CheckResult* verdict : verdicts) {
    const Pair pair{number_of(verdict->nodes[0]), number_of(verdict->nodes[1])};
    if (std::max(pair.first, pair.second) >= members.size()) continue;
    const auto [found, added] = worst.try_emplace(pair, verdict);
    if (found->second->outcome < verdict->outcome) found->second = verdict;
  }
  return worst;
}

/// From references and bounds, so that charts of two runs can be laid side by side.
ColourScale scale_of(const Verdicts& verdicts) {
  constexpr double kAboveReference = 1.1;
  ColourScale scale{.unit = std::string(unit(verdicts.front()->metric)), .high = 0};
  scale.title = scale.unit;
  std::optional<double> reference;
  std::optional<double> floor;
  for (const CheckResult* verdict : verdicts) {
    if (!reference) reference = finite(verdict->reference);
    if (!floor) floor = edge(*verdict, verdict->bounds.fail_below);
    scale.high = std::max(scale.high, finite(verdict->value).value_or(0));
  }
  if (reference) scale.high = *reference * kAboveReference;
  if (floor || reference) scale.names.push_back({.at = 0, .name = "0"});
  if (floor)
    scale.names.push_back({.at = *floor, .name = fmt::format("fails below {:.3g}", *floor)});
  if (reference && reference != floor) {
    scale.names.push_back({.at = *reference, .name = fmt::format("reference {:.3g}", *reference)});
  }
  return scale;
}

std::set<std::string> suspects_of(const Acceptance& acceptance) {
  std::set<std::string> suspects;
  for (const Suspect& suspect : acceptance.suspects) {
    if (suspect.nodes.size() == 1) suspects.insert(suspect.nodes.front());
  }
  return suspects;
}

constexpr double kRoom = 620;  ///< the widest square in pixels

double cell_pixels(std::size_t members) {
  constexpr double kWidest = 46;
  return std::min(kWidest, std::floor(kRoom / static_cast<double>(members)));
}

/// The names of members, and around the suspects' rows and columns a frame.
ChartAxis names_axis(const std::vector<std::string>& members,
                     const std::set<std::string>& suspects) {
  constexpr double kReadable = 13;
  const auto every = static_cast<std::size_t>(std::ceil(kReadable / cell_pixels(members.size())));
  ChartAxis axis{
      .kind = AxisKind::Names, .low = -0.5, .high = static_cast<double>(members.size()) - 0.5};
  for (std::size_t i = 0; i < members.size(); ++i) {
    axis.names.push_back(i % every == 0 || suspects.contains(members[i]) ? members[i] : "");
  }
  return axis;
}

/// Two strokes in the corners of a cell, which leave room for its value.
void add_failed(ChartCurve& curve, double x, double y) {
  add_path(curve, {{x - 0.45, y - 0.1}, {x - 0.1, y - 0.45}});
  add_path(curve, {{x + 0.1, y + 0.45}, {x + 0.45, y + 0.1}});
}

Figure heat_map_of(const Acceptance& acceptance, const std::vector<std::string>& members,
                   const Verdicts& verdicts) {
  const CheckResult& first = *verdicts.front();
  const std::set<std::string> suspects = suspects_of(acceptance);
  const ChartAxis names = names_axis(members, suspects);
  ChartCurve cells{.kind = CurveKind::Cells};
  ChartCurve failed = line_of("failed", kFailColour, 2.4);
  ChartCurve frames = line_of("suspect", kFailColour, 2);
  for (const auto& [pair, verdict] : pairs_of(verdicts, members)) {
    const auto one = static_cast<double>(pair.first);
    const auto other = static_cast<double>(pair.second);
    const std::optional<double> value = finite(verdict->value);
    for (const auto& [x, y] : {std::pair{one, other}, std::pair{other, one}}) {
      cells.points.push_back({.x = x, .y = y, .low = value});
      if (value && (verdict->outcome == Outcome::Fail || verdict->outcome == Outcome::Known)) {
        add_failed(failed, x, y);
      }
    }
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!suspects.contains(members[i])) continue;
    const auto low = static_cast<double>(i) - 0.5;
    add_path(frames, {{names.low, low},
                      {names.high, low},
                      {names.high, low + 1},
                      {names.low, low + 1},
                      {names.low, low}});
    add_path(frames, {{low, names.low},
                      {low, names.high},
                      {low + 1, names.high},
                      {low + 1, names.low},
                      {low, names.low}});
  }
  std::size_t longest = 0;
  for (const std::string& member : members) longest = std::max(longest, member.size());
  const int side =
      static_cast<int>(cell_pixels(members.size()) * static_cast<double>(members.size()));
  const int labels = 8 * static_cast<int>(std::min<std::size_t>(longest, 36));
  Chart chart{.title = fmt::format("Device set {}: {} of {}", first.device_set, first.collective,
                                   size_words(first.size)),
              .panels = {{.x = names, .y = names}},
              .curves = {std::move(cells), std::move(failed), std::move(frames)},
              .colours = scale_of(verdicts),
              .width = std::max(side + labels + 260, 500),
              .height = side + labels + 60};
  std::swap(chart.panels.front().y.low, chart.panels.front().y.high);
  keep_used(chart);
  std::string caption = fmt::format(
      "{}; {} {} in {}. Every pair stands twice, mirrored at the blank diagonal; hatched: no data. "
      "The scale begins at 0 and ends 10 % above the reference.",
      chart.title, name(first.statistic), name(first.metric), chart.colours->unit);
  return {.chart = std::move(chart), .caption = std::move(caption), .wide = true};
}

}  // namespace

std::vector<Figure> waterfalls(const Acceptance& acceptance, const std::string& rule) {
  std::vector<std::string> collectives;
  std::map<std::string, Verdicts> verdicts;
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.rule != rule) continue;
    if (!verdicts.contains(verdict.collective)) collectives.push_back(verdict.collective);
    verdicts[verdict.collective].push_back(&verdict);
  }
  std::vector<Figure> figures;
  for (const std::string& collective : collectives) {
    if (is_measured(verdicts[collective])) figures.push_back(waterfall_of(verdicts[collective]));
  }
  return figures;
}

std::vector<Figure> heat_maps(const Acceptance& acceptance, const Specification& specification) {
  constexpr std::size_t kFewest = 3;
  std::map<MapKey, Verdicts> maps;
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.nodes.size() != 2 || instances_noun(specification, verdict.device_set) != "pairs") {
      continue;
    }
    maps[{verdict.device_set, verdict.collective, verdict.type, verdict.size, verdict.metric,
          verdict.statistic}]
        .push_back(&verdict);
  }
  const std::vector<std::string> members = members_of(acceptance, specification);
  std::vector<Figure> figures;
  if (members.size() < kFewest) return figures;
  for (const auto& [key, verdicts] : maps) {
    Figure map = heat_map_of(acceptance, members, verdicts);
    if (map.chart.colours->high > 0) figures.push_back(std::move(map));
  }
  return figures;
}

}  // namespace busbar::judge
