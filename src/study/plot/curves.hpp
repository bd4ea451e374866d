// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

/// A point of a chart's curve.
[[nodiscard]] inline ChartPoint chart_point(double x, const Spread& y, bool gap_before) {
  return {x, y.median, y.low, y.high, gap_before};
}

/// "what: common": the title of a figure; nothing may be common.
[[nodiscard]] inline std::string with_common(const std::string& what, const std::string& common) {
  return common.empty() ? what : what + ": " + common;
}

/// Curves over the size, named and styled; rows of pairs are left out.
[[nodiscard]] SizeCurves size_curves(std::vector<Dataset> datasets, PlotPlacement placement);

/// Takes away the rows of the other placement, and those of pairs.
void keep_collective_rows(std::vector<Dataset>& datasets, PlotPlacement placement);

/// The point of a size; null where the curve has none.
[[nodiscard]] const SizePoint* point_at(const SizeCurve& curve, Bytes size);

/// A key without what follows from the number of ranks.
[[nodiscard]] CurveKey without_ranks(CurveKey key);

/// How curves look. Titles are what distinguishes the keys, within the same number of ranks; the
/// same line of a system has the same style for every number of ranks.
struct CurveLooks {
  std::vector<std::string> titles{};
  std::vector<CurveStyle> styles{};
  std::string common{};  ///< what the keys share
};
/// `systems`: those of a page, which have colours of their own; every title has its label then,
/// even where all are the same.
[[nodiscard]] CurveLooks curve_looks(std::span<const CurveKey> keys,
                                     std::vector<std::string> systems = {});

/// Gives the curves of these keys their styles, and their names in front of their titles; returns
/// what the names share.
template <class Drawn>
std::string set_looks(std::span<const CurveKey> keys, std::vector<Drawn>& curves,
                      const std::vector<std::string>& systems = {}) {
  CurveLooks looks = curve_looks(keys, systems);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    curves[i].title.insert(0, looks.titles[i]);
    curves[i].style = looks.styles[i];
  }
  return std::move(looks.common);
}

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
  /// "out of place falls from 30.2 GB/s at 8 MiB to 0.789 at 64 MiB (1/38.3): slow from 16 MiB to 2
  /// GiB", "in place takes 218 us at 8 B and 41 at 16 B (5.32 times)".
  std::string text{};
  double factor = 0;  ///< the worst
  Bytes size = 0;     ///< the largest that is slow by more than 1 / kFallen, if any
};

/// "all-reduce, 8 ranks: box, in place falls from ...".
[[nodiscard]] std::string curve_and_text(const CurveFinding& finding);

/// Slow sizes, beyond the intervals of the rows, and placements of one curve that differ by more
/// than kFallen; with what NCCL chose, where that changes; the worst first.
[[nodiscard]] std::vector<CurveFinding> curve_findings(std::span<const SizeCurve> curves);

}  // namespace busbar::study
