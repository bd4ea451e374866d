// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "format/chart.hpp"
#include "study/dataset.hpp"

namespace busbar::study {

/// Out has the sizes that were measured in place only, too, marked.
enum class PlotPlacement { Out, In, Both };
constexpr auto enum_names(PlotPlacement) {
  return std::array{Named{PlotPlacement::Out, "out"}, Named{PlotPlacement::In, "in"},
                    Named{PlotPlacement::Both, "both"}};
}

/// A median and its interval: the row's 95 % interval where there is one launch, and the range of
/// the launches where there are several.
struct Spread {
  double median = 0;
  std::optional<double> low{};
  std::optional<double> high{};
};

/// All launches of one size: medians over launches.
struct SizePoint {
  Bytes size = 0;
  Spread busbw_GBps{};
  Spread time_us{};
  std::optional<double> time_p99_us{};
  std::optional<double> bound_GBps{};
  std::string choice{};  ///< "Ring/LL128"; empty where unknown, or not the same in all launches
  bool gap_before = false;
  bool in_place_only = false;  ///< of a curve out of place
};

/// A curve as it is drawn.
struct SizeCurve {
  CurveKey key{};
  std::string title{};
  CurveStyle style{};
  std::vector<SizePoint> points{};  ///< by rising size; one at least
  std::set<Bytes> missing{};        ///< sizes that were skipped or failed
  std::string limit{};              ///< what the last point's bound is of, for people
};

/// Curves of one figure, and what all of them have in common.
struct SizeCurves {
  std::vector<SizeCurve> curves{};
  std::string common{};
};

/// Curves over the size, named and styled; rows of pairs are left out.
[[nodiscard]] SizeCurves size_curves(std::vector<Dataset> datasets, PlotPlacement placement);

/// Takes away the rows of the other placement, and those of pairs.
void keep_collective_rows(std::vector<Dataset>& datasets, PlotPlacement placement);

/// The point of a size; null where the curve has none.
[[nodiscard]] const SizePoint* point_at(const SizeCurve& curve, Bytes size);

/// Names: what distinguishes the keys, within the same number of ranks; and what they share.
struct CurveNames {
  std::vector<std::string> titles{};
  std::string common{};
};
/// `with_label`: every title has its label, even where all are the same.
[[nodiscard]] CurveNames curve_names(std::span<const CurveKey> keys, bool with_label = false);

/// Styles of curves with these keys; the same line of a system looks alike for every number of
/// ranks. `systems`: others of the page, which have colours of their own.
[[nodiscard]] std::vector<CurveStyle> curve_styles(std::span<const CurveKey> keys,
                                                   std::vector<std::string> systems = {});

/// Gives the curves of these keys their styles, and their names in front of their titles; returns
/// what the names share.
template <class Drawn>
std::string set_looks(std::span<const CurveKey> keys, std::vector<Drawn>& curves) {
  CurveNames names = curve_names(keys);
  const std::vector<CurveStyle> styles = curve_styles(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    curves[i].title.insert(0, names.titles[i]);
    curves[i].style = styles[i];
  }
  return std::move(names.common);
}

/// A curve over numbers of ranks, at one size.
struct ScalingCurve {
  std::string title{};
  CurveStyle style{};
  std::map<int, const SizePoint*> points{};  ///< by ranks; null where the size is missing
};

/// All of them; without curves where no size is common to all.
struct Scaling {
  Bytes size = 0;
  std::vector<ScalingCurve> curves{};
  std::string common{};  ///< as in SizeCurves
};

/// Curves at `size`, or at the largest size that all have, of those with two numbers of ranks or
/// more. Of several device sets of one number of ranks the best counts; sizes that were measured in
/// place only are left out. The points are those of the curves given, names as in curve_names.
[[nodiscard]] Scaling scaling_of(const SizeCurves& curves, std::optional<Bytes> size);

/// @name What makes a size of a curve slow, our choice
/// @{
inline constexpr double kSlower = 1.3;       ///< times the time of a larger size
inline constexpr double kSlowerLarge = 1.1;  ///< the same from 1 MiB on, where times are steadier
inline constexpr double kNotch = 1.5;        ///< the rates of both neighbours over its own
inline constexpr double kFallen = 0.5;       ///< its rate over that of any smaller size
/// @}

/// What is wrong with a curve by itself.
struct CurveFinding {
  CurveKey key{};
  /// "falls from 30.2 GB/s at 8 MiB to 0.789 at 64 MiB (1/38.3): slow from 16 MiB to 2 GiB", "takes
  /// 218 us at 8 B and 41 at 16 B (5.32 times)".
  std::string text{};
  double factor = 0;  ///< the worst
  Bytes size = 0;     ///< the largest that is slow by more than 1 / kFallen, if any
};

/// "in place falls from ...", "out of place ...".
[[nodiscard]] std::string placement_and_text(const CurveFinding& finding);
/// "all-reduce, 8 ranks: box, in place falls from ...".
[[nodiscard]] std::string curve_and_text(const CurveFinding& finding);

/// Slow sizes, beyond the intervals of the rows, and placements of one curve that differ by more
/// than kFallen; with what NCCL chose, where that changes; the worst first.
[[nodiscard]] std::vector<CurveFinding> curve_findings(std::span<const SizeCurve> curves);

}  // namespace busbar::study
