// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "study/dataset.hpp"

namespace busbar {

/// Out has the sizes that were measured in place only, too, marked.
enum class PlotPlacement { Out, In, Both };

/// All launches of one size: medians over launches. The interval is the row's 95 % interval where
/// there is one launch, and the range of the launches where there are several.
struct SizePoint {
  Bytes size = 0;
  double busbw_GBps = 0;
  std::optional<double> busbw_low{};
  std::optional<double> busbw_high{};
  double time_us = 0;
  std::optional<double> time_low{};
  std::optional<double> time_high{};
  std::optional<double> time_p99_us{};
  std::optional<double> bound_GBps{};
  std::string bound_kind{};
  std::string choice{};  ///< "Ring/LL128"; empty where unknown, or not the same in all launches
  bool gap_before = false;
  bool in_place_only = false;  ///< of a curve out of place
};

/// A curve as it is drawn.
struct SizeCurve {
  CurveKey key{};
  std::string title{};
  CurveStyle style{};
  std::vector<SizePoint> points{};
};

/// Curves of one figure, and in words what all of them have in common.
struct SizeCurves {
  std::vector<SizeCurve> curves{};
  std::string common{};
};

/// Curves over the size, named and styled; rows of pairs are no part of them.
[[nodiscard]] SizeCurves size_curves(std::vector<Dataset> datasets, PlotPlacement placement);

/// Takes away the rows of the other placement, and those of pairs.
void keep_collective_rows(std::vector<Dataset>& datasets, PlotPlacement placement);

/// Names: what distinguishes the keys, within the same number of ranks; and what they share.
struct CurveNames {
  std::vector<std::string> titles{};
  std::string common{};
};
[[nodiscard]] CurveNames curve_names(std::span<const CurveKey> keys);

/// The number of each key's line among those of its system, from 0; the same for every number of
/// ranks.
[[nodiscard]] std::vector<std::size_t> lines_of_systems(std::span<const CurveKey> keys);

/// Styles of curves with these keys.
[[nodiscard]] std::vector<CurveStyle> curve_styles(std::span<const CurveKey> keys);

}  // namespace busbar
