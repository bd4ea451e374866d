// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/series_style.hpp"

namespace busbar {

/// One bar from 0 to `value`; with `least`, also a line at the worst of its kind.
struct Bar {
  std::string label{};
  SeriesStyle style{};
  std::optional<double> value{};  ///< empty: no bar, and `note` says why
  std::optional<double> least{};
  std::string note{};  ///< behind the bar: "150", "150, worst 15.75"
};

/// Bars of one kind below a heading: "4 GPUs".
struct BarGroup {
  std::string heading{};
  std::vector<Bar> bars{};
};

/// Lying bars on one scale that begins at 0; what stands between `least` and `value` is light.
[[nodiscard]] std::string svg_bars(const std::string& title, const std::vector<BarGroup>& groups);

/// A part of a strip.
struct StripPart {
  double share = 0;  ///< of 1
  double value = 0;  ///< decides on how dark it is, against the highest of all strips
  std::string words{};
};

struct Strip {
  std::string label{};
  std::vector<StripPart> parts{};
};

/// Strips of full width that are divided by shares: which part of all device sets carries what.
[[nodiscard]] std::string svg_strips(const std::string& title, const std::vector<Strip>& strips);

}  // namespace busbar
