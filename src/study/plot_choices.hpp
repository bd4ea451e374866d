// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "study/plot_curves.hpp"
#include "study/plot_figure.hpp"

namespace busbar {

/// Marks where NCCL's algorithm or protocol changes along a curve: between the two sizes, once for
/// all curves of a panel that change alike. `height` returns where a value lies in a panel, from 0
/// to 1, so that a label stands where no curve is.
void add_choice_marks(PlotFigure& figure, const SizeCurves& curves,
                      const std::function<double(const SizePoint&)>& height);

}  // namespace busbar
