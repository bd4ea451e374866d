// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "judge/output/describe.hpp"
#include "judge/output/pictures.hpp"
#include "report/svg_waterfall.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kMostBars = 24;
constexpr std::size_t kMostOthers = 20;

using Verdicts = std::vector<const CheckResult*>;

struct WordShape {
  SeriesStyle style{};
  bool hollow = false;
};

/// Every outcome has a shape of its own, beside the outcome itself.
WordShape shape_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass: return {{"#00735c", Marker::Circle}};
    case Outcome::Warn: return {{"#a65d00", Marker::Triangle}};
    case Outcome::Fail: return {{"#b00020", Marker::Cross}};
    case Outcome::Error: return {{"#b00020", Marker::Square}};
    case Outcome::Inconclusive: return {{"#555555", Marker::Diamond}, true};
    case Outcome::Known: return {{"#0b5394", Marker::Down}};
    case Outcome::Skip: break;
  }
  return {{"#777777", Marker::Plus}};
}

WaterfallBar bar_of(const CheckResult& verdict, std::string label) {
  const WordShape shape = shape_of(verdict.outcome);
  const Bounds& bounds = verdict.bounds;
  WaterfallBar bar{.label = std::move(label),
                   .verdict = std::string(name(verdict.outcome)),
                   .style = shape.style,
                   .hollow = shape.hollow,
                   .value = finite(verdict.value),
                   .limits = {.reference = finite(verdict.reference),
                              .fail_below = edge(verdict, bounds.fail_below),
                              .warn_below = edge(verdict, bounds.warn_below),
                              .warn_above = edge(verdict, bounds.warn_above),
                              .fail_above = edge(verdict, bounds.fail_above)}};
  for (const double value : verdict.values) {
    if (finite(value)) bar.points.push_back(value);
  }
  return bar;
}

bool ratio_below(const CheckResult* a, const CheckResult* b) {
  return finite(a->ratio).value_or(0) < finite(b->ratio).value_or(0);
}

/// The launches of what has no bar, on one line.
WaterfallBar others_of(const Verdicts& others) {
  WaterfallBar bar = bar_of(*others.front(), fmt::format("{} others: launches", others.size()));
  const auto worst = std::max_element(
      others.begin(), others.end(),
      [](const CheckResult* a, const CheckResult* b) { return a->outcome < b->outcome; });
  const WordShape shape = shape_of((*worst)->outcome);
  bar.value.reset();
  bar.verdict = fmt::format("{}{}", (*worst)->outcome == Outcome::Pass ? "" : "up to ",
                            name((*worst)->outcome));
  bar.style = shape.style;
  bar.hollow = shape.hollow;
  bar.points.clear();
  for (const CheckResult* verdict : others) {
    bar.points.insert(bar.points.end(), verdict->values.begin(), verdict->values.end());
  }
  bar.points.erase(std::remove_if(bar.points.begin(), bar.points.end(),
                                  [](double point) { return !finite(point); }),
                   bar.points.end());
  return bar;
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
  Waterfall waterfall{.title = fmt::format("{}: {}", first.rule, first.collective),
                      .unit = std::string(unit(first.metric))};
  const std::vector<bool> chosen = chosen_of(verdicts);
  Verdicts others;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const CheckResult& verdict = *verdicts[i];
    if (!chosen[i]) {
      others.push_back(&verdict);
      continue;
    }
    waterfall.bars.push_back(bar_of(
        verdict, one_size ? verdict.instance : verdict.instance + " " + size_words(verdict.size)));
  }
  if (!others.empty()) waterfall.bars.push_back(others_of(others));
  return {
      .svg = svg_waterfall(waterfall),
      .caption = fmt::format(
          "{}: {} of {}{}, {} of launches. Bars are measured values, thin dark ticks the single "
          "launches. Solid red marks are where it fails, dashed brown ones where it warns, "
          "triangles the reference ({}).",
          first.rule, name(first.metric), first.collective,
          one_size ? " of " + size_words(first.size) : "", name(first.statistic),
          first.reference_kind.empty() ? "none" : first.reference_kind),
      .wide = true};
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

}  // namespace busbar::judge
