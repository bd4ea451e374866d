// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/series_style.hpp"

namespace busbar {

/// What a value must keep to; each is there or not.
struct WaterfallLimits {
  std::optional<double> reference{};
  std::optional<double> fail_below{};
  std::optional<double> warn_below{};
  std::optional<double> warn_above{};
  std::optional<double> fail_above{};
};

struct WaterfallBar {
  std::string label{};
  std::string verdict{};  ///< a word; its shape and colour are `style`
  SeriesStyle style{};
  bool hollow = false;            ///< the shape is an outline
  std::optional<double> value{};  ///< empty: no bar, the verdict stands alone
  WaterfallLimits limits{};
  std::vector<double> points{};  ///< the launches, as ticks on the bar
};

struct Waterfall {
  std::string title{};
  std::string unit{};
  std::vector<WaterfallBar> bars{};
};

/// Lying bars of measured values on one scale that begins at 0, with marks at each bar's limits.
[[nodiscard]] std::string svg_waterfall(const Waterfall& waterfall);

}  // namespace busbar
