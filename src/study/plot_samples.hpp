// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "report/chart.hpp"
#include "study/plot_curves.hpp"

namespace busbar {

/// The samples of one size of one collective.
struct SampleSet {
  CurveKey key{};  ///< without ranks, which the file does not have
  Bytes size = 0;
  std::vector<double> times_us{};
};

/// Whether the file's column names are those of --samples; false also where it cannot be read.
[[nodiscard]] bool is_samples_file(const std::string& path);

/// Reads a CSV of --samples. Throws a usage error with file and line where a cell is no number.
[[nodiscard]] std::vector<SampleSet> read_samples(const std::string& path,
                                                  const std::string& label);

/// With fewer samples than this each is drawn as a point.
inline constexpr std::size_t kFewSamples = 30;

/// The share of samples up to a time: a panel for the smallest, a middle and the largest size, or
/// for `size`.
[[nodiscard]] Chart samples_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                                   std::optional<Bytes> size);

/// The density of the same samples over their times, where there are kFewSamples or more and all
/// took time: modes that the cumulative curve hides.
[[nodiscard]] Chart histogram_figure(std::span<const SampleSet> sets, PlotPlacement placement,
                                     std::optional<Bytes> size);

}  // namespace busbar
