// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

using Pair = std::pair<int, int>;  // sender, receiver

struct Matrix {
  std::string label{};
  std::string collective{};
  bool simulated = false;
  bool fake = false;
  Bytes size = 0;
  int ranks = 0;
  std::map<Pair, std::vector<double>> rates{};
};

bool is_pair(const Record& record) { return record.sender && record.receiver; }
bool has_rate(const Record& record) {
  return is_pair(record) && record.status == RowStatus::Ok && record.busbw_GBps;
}

Matrix matrix_of(const Dataset& dataset, std::optional<Bytes> wanted) {
  const Origin origin = origin_of(dataset);
  Matrix matrix{.label = dataset.label,
                .simulated = origin == Origin::Simulated,
                .fake = origin == Origin::Fake};
  for (const Record& record : dataset.records) {
    if (!is_pair(record)) continue;
    matrix.ranks = std::max({matrix.ranks, *record.sender + 1, *record.receiver + 1});
    if (has_rate(record)) matrix.size = std::max(matrix.size, record.size);
  }
  if (wanted) matrix.size = *wanted;
  for (const Record& record : dataset.records) {
    if (!has_rate(record) || record.size != matrix.size) continue;
    matrix.collective = record.collective;
    matrix.rates[{*record.sender, *record.receiver}].push_back(*record.busbw_GBps);
  }
  return matrix;
}

/// Every ordered pair of two ranks; the diagonal is no pair.
ChartCurve cells_of(const Matrix& matrix, int panel) {
  ChartCurve curve{.panel = panel, .title = matrix.label, .kind = CurveKind::Cells};
  for (int from = 0; from < matrix.ranks; ++from) {
    for (int to = 0; to < matrix.ranks; ++to) {
      if (from == to) continue;
      const auto known = matrix.rates.find({from, to});
      ChartPoint cell{.x = static_cast<double>(to), .y = static_cast<double>(from)};
      if (known != matrix.rates.end()) cell.low = stats::median(known->second);
      curve.points.push_back(cell);
    }
  }
  return curve;
}

/// Up to 16 ranks all have their number.
ChartAxis ranks_axis(std::string title, int ranks) {
  ChartAxis axis{
      .title = std::move(title), .kind = AxisKind::Names, .low = -0.5, .high = ranks - 0.5};
  const int every = ranks <= 16 ? 1 : (ranks + 7) / 8;
  for (int i = 0; i < ranks; ++i) {
    axis.names.push_back(i % every == 0 ? fmt::format("{}", i) : "");
  }
  return axis;
}

PlotLimits limits_of(const std::vector<Matrix>& matrices) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const Matrix& matrix : matrices) {
    for (const auto& [pair, rates] : matrix.rates) {
      low = std::min(low, stats::median(rates));
      high = std::max(high, stats::median(rates));
    }
  }
  return round_limits(low, high);
}

std::string words_of(const std::vector<Matrix>& matrices) {
  std::set<std::string> collectives;
  std::set<std::string> sizes;
  bool all_simulated = true;
  for (const Matrix& matrix : matrices) {
    collectives.insert(matrix.collective);
    sizes.insert(format_bytes(matrix.size));
    all_simulated = all_simulated && matrix.simulated;
  }
  const std::vector<std::string> names(collectives.begin(), collectives.end());
  std::string text = join(names, ", ");
  if (sizes.size() == 1) text += fmt::format(", {}", *sizes.begin());
  return text + (all_simulated ? ", simulated" : "");
}

/// Without the size that the title has.
std::string panel_words(const Matrix& matrix, bool one_size) {
  std::string text = matrix.label;
  if (matrix.simulated) text += " (simulated)";
  if (matrix.fake) text += " (fake GPUs)";
  return one_size ? text : fmt::format("{}, {}", text, format_bytes(matrix.size));
}

}  // namespace

PlotLimits round_limits(double low, double high) {
  const double width = std::max(high - low, std::max(std::abs(high), 1e-9) * 1e-3);
  const double power = std::pow(10, std::floor(std::log10(width / 5)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (width / step > 10) step = factor * power;
  }
  PlotLimits limits{.low = std::floor(low / step + 1e-9) * step,
                    .high = std::ceil(high / step - 1e-9) * step};
  if (limits.high <= limits.low) limits.high = limits.low + step;
  return limits;
}

Chart pairs_figure(std::span<const Dataset> datasets, std::optional<Bytes> size,
                   std::optional<PlotLimits> limits) {
  std::vector<Matrix> matrices;
  for (const Dataset& dataset : datasets) {
    Matrix matrix = matrix_of(dataset, size);
    if (!matrix.rates.empty()) matrices.push_back(std::move(matrix));
  }
  Chart figure{.name = "pairs"};
  if (matrices.empty()) return figure;
  if (!limits) limits = limits_of(matrices);
  figure.title = fmt::format("Pairs: {}", words_of(matrices));
  const bool one_size = std::all_of(matrices.begin(), matrices.end(), [&](const Matrix& matrix) {
    return matrix.size == matrices.front().size;
  });
  for (const Matrix& matrix : matrices) {
    const int panel = static_cast<int>(figure.panels.size());
    figure.panels.push_back({.title = panel_words(matrix, one_size),
                             .x = ranks_axis("receiver (rank)", matrix.ranks),
                             .y = ranks_axis("sender (rank)", matrix.ranks)});
    std::swap(figure.panels.back().y.low, figure.panels.back().y.high);
    figure.curves.push_back(cells_of(matrix, panel));
  }
  figure.colours = ColourScale{
      .title = "bus bandwidth (GB/s)", .unit = "GB/s", .low = limits->low, .high = limits->high};
  return figure;
}

}  // namespace busbar
