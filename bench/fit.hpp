// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topo/predict/predictor.hpp"

namespace busbar::topo {

/// A measured time of one size.
struct MeasuredTime {
  double bytes = 0;
  double time_us = 0;
};

/// The times of one collective on one set of ranks, by size, and what predicts them.
struct MeasuredCurve {
  std::string name{};
  const Collective* collective = nullptr;
  Predictor predictor;
  std::vector<MeasuredTime> times{};
};

/// From here on a size counts as large in all tables of errors.
inline constexpr double kLargeBytes = 1e6;

/// The times and shares of `start` so that the predicted times of all curves are nearest to the
/// measured ones: the mean over curves of the mean |log(measured / predicted)|, at most 1 a point,
/// small sizes with a weight of 0.4. Figures change by common factors: ring and tree have the same
/// launch time and share of a low latency form. The curves' own efficiencies and flows count.
/// `stiffness`: what a change of a figure by a factor of e costs, in units of the mean error: a
/// figure that the curves do not determine stays.
[[nodiscard]] Protocol fit(std::span<MeasuredCurve> curves, const Protocol& start,
                           double stiffness);

/// The errors |measured / predicted - 1| of the times of a curve's large or small sizes.
[[nodiscard]] std::vector<double> errors_of(const MeasuredCurve& curve, bool large);
/// Bus bandwidth simulated over measured, by time; 0 where nothing is predicted.
[[nodiscard]] double simulated_ratio(const MeasuredCurve& curve, const MeasuredTime& measured);

}  // namespace busbar::topo
