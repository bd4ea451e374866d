// SPDX-License-Identifier: BSD-3-Clause
#include "format/chart.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

/// The range of the finite ones; 0 to 1 where there are none.
ChartRange range_of(const std::vector<double>& values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ChartRange range{.low = kInfinity, .high = -kInfinity};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range.low > range.high ? ChartRange{.low = 0, .high = 1} : range;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 36;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins && ++characters > kMost) return text.substr(0, i) + "…";
  }
  return text;
}

/// At digit * 10^power; without a name where names of such digits would not fit.
ChartTick log_tick(int digit, int power, bool few) {
  const double tick = digit * std::pow(10, power);
  const bool named = digit == 1 || (few && (digit == 2 || digit == 5));
  const std::string name = tick < 1 ? fmt::format("{:.6g}", tick) : fmt::format("{:.0f}", tick);
  return {.at = tick, .name = named ? name : "", .minor = !named};
}

/// The ranges of the positive rates of every measured curve; panel -1: of all panels.
std::vector<ChartRange> rate_ranges(const Chart& chart, int panel) {
  std::vector<ChartRange> curves;
  for (const ChartCurve& curve : chart.curves) {
    if (curve.kind != CurveKind::Measured || (panel >= 0 && curve.panel != panel)) continue;
    const std::vector<double> rates =
        filtered(mapped(curve.points, &ChartPoint::y), [](double rate) { return rate > 0; });
    if (!rates.empty()) curves.push_back(range_of(rates));
  }
  return curves;
}

/// Where the logarithmic axis of curves with these ranges begins; empty: it is linear.
std::optional<double> log_axis_low(std::span<const ChartRange> curves, std::optional<bool> wanted) {
  constexpr double kMostLinear = 30;
  if (curves.empty()) return {};
  const auto by_peak = [](const ChartRange& a, const ChartRange& b) { return a.high < b.high; };
  const auto [lowest, highest] = std::ranges::minmax_element(curves, by_peak);
  if (!wanted.value_or(highest->high > kMostLinear * lowest->high)) return {};
  constexpr double kDepth = 300;
  double low = highest->high;
  for (const ChartRange& curve : curves) low = std::min(low, curve.low);
  return std::max(low, lowest->high / kDepth);
}

constexpr double kSizeMargin = 1.25;

}  // namespace

double ChartAxis::height(double value) const {
  if (kind == AxisKind::Log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

ChartRange x_range(const Chart& chart, int panel) {
  std::vector<double> values;
  for (const ChartCurve& curve : chart.curves) {
    if (panel >= 0 && curve.panel != panel) continue;
    for (const ChartPoint& point : curve.points) values.push_back(point.x);
  }
  return range_of(values);
}

ChartRange y_range(const Chart& chart, int panel) {
  std::vector<double> values;
  for (const ChartCurve& curve : chart.curves) {
    if (panel >= 0 && curve.panel != panel) continue;
    for (const ChartPoint& point : curve.points) {
      values.push_back(point.y);
      if (curve.kind != CurveKind::Measured) continue;
      values.push_back(point.low.value_or(point.y));
      values.push_back(point.high.value_or(point.y));
    }
  }
  return range_of(values);
}

ChartAxis bytes_axis(const Chart& chart) {
  const ChartRange sizes = x_range(chart);
  return log_axis("size", {std::max(sizes.low, 1.0), std::max(sizes.high, 1.0)}, kSizeMargin,
                  AxisKind::Sizes);
}

ChartAxis log_axis(std::string title, ChartRange range, double margin, AxisKind kind) {
  return {.title = std::move(title),
          .kind = kind,
          .low = range.low / margin,
          .high = range.high * margin};
}

std::vector<ChartTick> size_ticks(const ChartAxis& axis, int most) {
  const int first = static_cast<int>(std::floor(std::log2(axis.low * kSizeMargin) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log2(axis.high / kSizeMargin) - 1e-9));
  const int apart = (last - first + most) / most;
  std::vector<ChartTick> ticks;
  for (int power = first; power <= last; ++power) {
    const Bytes size = Bytes{1} << static_cast<unsigned>(power);
    const bool named = power % apart == 0;
    ticks.push_back({.at = static_cast<double>(size),
                     .name = named ? format_bytes(size) : "",
                     .minor = !named});
  }
  return ticks;
}

std::vector<ChartTick> log_ticks(const ChartAxis& axis) {
  const bool few = std::log10(axis.high / axis.low) < 2.2;
  const int first = static_cast<int>(std::floor(std::log10(axis.low))) - 1;
  const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
  std::vector<ChartTick> ticks;
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit <= 9; ++digit) {
      ChartTick tick = log_tick(digit, power, few);
      if (tick.at < axis.low * 0.999 || tick.at > axis.high * 1.001) continue;
      ticks.push_back(std::move(tick));
    }
  }
  return ticks;
}

std::vector<ChartTick> name_ticks(const ChartAxis& axis) {
  std::vector<ChartTick> ticks;
  for (std::size_t i = 0; i < axis.names.size(); ++i) {
    if (axis.names[i].empty()) continue;
    ticks.push_back({.at = static_cast<double>(i), .name = shortened(axis.names[i])});
  }
  return ticks;
}

void set_rate_axis(Chart& chart, std::optional<bool> logarithmic, int panel, double headroom) {
  const std::optional<double> low = log_axis_low(rate_ranges(chart, panel), logarithmic);
  const double high = y_range(chart, panel).high;
  const double top = (high > 0 ? high : 1) * headroom;
  ChartAxis axis{.title = "bus bandwidth (GB/s)", .high = top * 1.05};
  if (low) axis = {axis.title, AxisKind::Log, *low / 1.2, top * 1.3};
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    if (panel < 0 || static_cast<std::size_t>(panel) == i) chart.panels[i].y = axis;
  }
}

namespace {

/// gnuplot's filled diamond, square, triangle, circle, triangle upside down and pentagon.
constexpr std::array kShapes{13, 5, 9, 7, 11, 15};
constexpr std::array kMeasuredDashes{1, 4, 5};
constexpr std::array kSimulatedDashes{2, 3, 2};

struct Look {
  int colour;
  std::size_t shape;          ///< of kShapes
  std::string_view owners{};  ///< systems of the papers, in letters and digits only; a star at the
                              ///< end of a name stands for anything
};
/// Okabe and Ito's colours, with olive for their yellow, which is pale on white. The last four are
/// the papers' and wait for their owners.
constexpr std::array<Look, 8> kLooks{{{0x56B4E9, 4},
                                      {0xCC79A7, 5},
                                      {0x000000, 3},
                                      {0x7A6A00, 1},
                                      {0x009E73, 0, "dgx2*"},
                                      {0x0072B2, 1, "ac922* ibmac922* ibmp9* 8335gth*"},
                                      {0xE69F00, 2, "p3dn* awsp3* p3 p316xlarge dgx1v*"},
                                      {0xD55E00, 3, "exxact* ts4* rtx rtx2080*"}}};

/// The look that a system owns; the number of looks for none.
std::size_t owned_look(const std::string& system) {
  std::string letters;
  for (const char c : lower(system)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) letters.push_back(c);
  }
  const auto is_owned = [&](const Look& look) {
    const std::vector<std::string> owners = split_words(look.owners);
    return std::ranges::any_of(owners, [&](std::string_view owner) {
      return owner.ends_with('*') ? letters.starts_with(owner.substr(0, owner.size() - 1))
                                  : letters == owner;
    });
  };
  return static_cast<std::size_t>(std::ranges::find_if(kLooks, is_owned) - kLooks.begin());
}

}  // namespace

Palette::Palette(std::span<const std::string> systems) {
  const std::set<std::string> names(systems.begin(), systems.end());
  std::set<std::size_t> taken;
  for (const std::string& name : names) {
    const std::size_t own = owned_look(name);
    if (own < kLooks.size() && taken.insert(own).second) places_[name] = own;
  }
  std::size_t place = 0;
  for (const std::string& name : names) {
    if (places_.contains(name)) continue;
    while (taken.contains(place)) ++place;
    places_[name] = place++;
  }
}

CurveStyle Palette::of(const std::string& system, std::size_t line, bool simulated) const {
  const auto found = places_.find(system);
  std::size_t place = found == places_.end() ? 0 : found->second;
  std::size_t further = line;
  if (places_.size() <= 1) {
    // Alone: its first line has its own look, the next ones those that are free.
    const std::size_t number = line % kLooks.size();
    if (number > 0) place = number <= place ? number - 1 : number;
    further = line / kLooks.size();
  }
  // Beyond the table the colours come again with the next shape.
  const Look& look = kLooks.at(place % kLooks.size());
  const auto& dashes = simulated ? kSimulatedDashes : kMeasuredDashes;
  return {.colour = look.colour,
          .point = kShapes.at((look.shape + place / kLooks.size() + further) % kShapes.size()),
          .dash = dashes.at(further % dashes.size())};
}

}  // namespace busbar
