// SPDX-License-Identifier: BSD-3-Clause
#include "stats/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace busbar {
namespace {

constexpr std::size_t kMostBins = 100;

/// The length of the shortest interval that has half of the values; they rise.
double shortest_half(std::span<const double> values) {
  const std::size_t half = values.size() / 2;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + half < values.size(); ++i) {
    shortest = std::min(shortest, values[i + half] - values[i]);
  }
  return shortest;
}

/// How many of the rising values are on the axis: all, or without the slowest hundredth.
std::size_t count_shown(std::span<const double> values) {
  const std::size_t most = (values.size() * 99 + 99) / 100;
  const double range = values.back() - values.front();
  const double usual = values[most - 1] - values.front();
  if (usual <= 0 || range <= 2 * usual) return values.size();
  const auto above = std::upper_bound(values.begin(), values.end(), values[most - 1]);
  return static_cast<std::size_t>(above - values.begin());
}

std::size_t bins_of(std::span<const double> shown) {
  const auto count = static_cast<double>(shown.size());
  const double range = shown.back() - shown.front();
  const double width = 2 * shortest_half(shown) / std::cbrt(count);
  const auto least = static_cast<std::size_t>(std::ceil(std::sqrt(count)));
  const double wanted = std::ceil(range / width);
  if (!(wanted < static_cast<double>(kMostBins))) return kMostBins;  // a width of 0, too
  return std::clamp(static_cast<std::size_t>(wanted), std::min(least, kMostBins), kMostBins);
}

}  // namespace

double Histogram::density(std::size_t bin) const {
  return share[bin] / std::log(edges[bin + 1] / edges[bin]);
}

Histogram log_histogram(std::span<const double> values) {
  const auto is_drawable = [](double value) { return std::isfinite(value) && value > 0; };
  if (values.empty() || !std::all_of(values.begin(), values.end(), is_drawable)) return {};
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  std::sort(logs.begin(), logs.end());
  const std::span<const double> shown = std::span(logs).first(count_shown(logs));
  const double low = shown.front();
  const double range = shown.back() - low;
  // All values are the same: one narrow bin about them.
  if (range <= 0) return {.edges = {values[0] * 0.995, values[0] * 1.005}, .share = {1}};
  const std::size_t bins = bins_of(shown);
  const double width = range / static_cast<double>(bins);
  Histogram histogram{.share = std::vector<double>(bins), .beyond = logs.size() - shown.size()};
  for (std::size_t i = 0; i <= bins; ++i) {
    histogram.edges.push_back(std::exp(low + width * static_cast<double>(i)));
  }
  const double one = 1 / static_cast<double>(logs.size());
  for (const double value : shown) {
    const auto bin = static_cast<std::size_t>((value - low) / width);
    histogram.share[std::min(bin, bins - 1)] += one;
  }
  return histogram;
}

}  // namespace busbar
