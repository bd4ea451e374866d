// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/units.hpp"

namespace busbar {
namespace {

class Range {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  [[nodiscard]] bool is_empty() const { return low_ > high_; }
  [[nodiscard]] ChartRange value() const {
    return is_empty() ? ChartRange{.low = 0, .high = 1} : ChartRange{.low = low_, .high = high_};
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

template <class Add>
ChartRange range_of(const Chart& chart, int panel, const Add& add) {
  Range range;
  for (const ChartCurve& curve : chart.curves) {
    if (panel >= 0 && curve.panel != panel) continue;
    for (const ChartPoint& point : curve.points) add(curve, point, range);
  }
  return range.value();
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

constexpr double kSizeMargin = 1.25;

}  // namespace

ChartRange x_range(const Chart& chart, int panel) {
  return range_of(chart, panel, [](const ChartCurve&, const ChartPoint& point, Range& range) {
    range.add(point.x);
  });
}

ChartRange y_range(const Chart& chart, int panel) {
  return range_of(chart, panel, [](const ChartCurve& curve, const ChartPoint& point, Range& range) {
    range.add(point.y);
    if (curve.kind != CurveKind::Measured) return;
    range.add(point.low.value_or(point.y));
    range.add(point.high.value_or(point.y));
  });
}

ChartAxis bytes_axis(const Chart& chart) {
  const ChartRange sizes = x_range(chart);
  return {.title = "size",
          .kind = AxisKind::Sizes,
          .low = std::max(sizes.low, 1.0) / kSizeMargin,
          .high = std::max(sizes.high, 1.0) * kSizeMargin};
}

ChartAxis log_axis(std::string title, ChartRange range, double margin) {
  return {.title = std::move(title),
          .kind = AxisKind::Log,
          .low = range.low / margin,
          .high = range.high * margin};
}

ChartAxis powers_axis(std::string title, ChartRange range) {
  constexpr double kMargin = 1.15;
  ChartAxis axis = log_axis(std::move(title), range, kMargin);
  axis.kind = AxisKind::Powers;
  return axis;
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
      const double tick = digit * std::pow(10, power);
      if (tick < axis.low * 0.999 || tick > axis.high * 1.001) continue;
      const bool named = digit == 1 || (few && (digit == 2 || digit == 5));
      const std::string name = tick < 1 ? fmt::format("{:.6g}", tick) : fmt::format("{:.0f}", tick);
      ticks.push_back({.at = tick, .name = named ? name : "", .minor = !named});
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

std::optional<double> log_axis_low(std::span<const ChartRange> curves, std::optional<bool> wanted) {
  if (curves.empty()) return {};
  const auto by_peak = [](const ChartRange& a, const ChartRange& b) { return a.high < b.high; };
  const auto [lowest, highest] = std::minmax_element(curves.begin(), curves.end(), by_peak);
  if (!wanted.value_or(highest->high > kMostLinear * lowest->high)) return {};
  constexpr double kDepth = 300;
  double low = highest->high;
  for (const ChartRange& curve : curves) low = std::min(low, curve.low);
  return std::max(low, lowest->high / kDepth);
}

double RateAxis::height(double rate) const {
  return logarithmic ? std::log(rate / low) / std::log(high / low) : rate / high;
}

RateAxis set_rate_axis(Chart& chart, std::optional<bool> logarithmic, int panel, double headroom) {
  std::vector<ChartRange> curves;
  for (const ChartCurve& curve : chart.curves) {
    if (curve.kind != CurveKind::Measured || (panel >= 0 && curve.panel != panel)) continue;
    Range rates;
    for (const ChartPoint& point : curve.points) {
      if (point.y > 0) rates.add(point.y);
    }
    if (!rates.is_empty()) curves.push_back(rates.value());
  }
  const std::optional<double> low = log_axis_low(curves, logarithmic);
  const double high = y_range(chart, panel).high;
  const double top = (high > 0 ? high : 1) * headroom;
  ChartAxis axis{.title = "bus bandwidth (GB/s)", .high = top * 1.05};
  if (low)
    axis = {.title = axis.title, .kind = AxisKind::Log, .low = *low / 1.2, .high = top * 1.3};
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    if (panel < 0 || static_cast<std::size_t>(panel) == i) chart.panels[i].y = axis;
  }
  return {.logarithmic = low.has_value(), .low = low.value_or(0), .high = high};
}

}  // namespace busbar
