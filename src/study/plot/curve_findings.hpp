// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/plot/curves.hpp"

namespace busbar::study {

/// Sizes at which a curve has less than kFallen of what it has at a smaller one, side by side.
struct Dip {
  SizePoint peak{};    ///< the highest of the smaller sizes
  SizePoint first{};   ///< of the sizes
  SizePoint lowest{};  ///< of them
  SizePoint last{};    ///< of the sizes
};

/// Our choice: no change of algorithm or protocol of a healthy library costs as much.
inline constexpr double kFallen = 0.5;

[[nodiscard]] std::vector<Dip> dips_of(std::span<const SizePoint> points);

/// What is wrong with a curve by itself.
struct CurveFinding {
  CurveKey key{};
  /// "falls from 30.2 GB/s at 8 MiB to 0.789 at 64 MiB (1/38.3): less than half from 16 MiB to 2
  /// GiB".
  std::string text{};
  Bytes size = 0;  ///< the largest that is low
};

/// "in place falls from ...", "out of place ...".
[[nodiscard]] std::string placement_and_text(const CurveFinding& finding);

/// Dips, and placements of one curve that differ by more than kFallen; with what NCCL chose, where
/// that changes.
[[nodiscard]] std::vector<CurveFinding> curve_findings(std::span<const SizeCurve> curves);

}  // namespace busbar::study
