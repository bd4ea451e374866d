// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"
#include "study/plot/figures.hpp"

namespace busbar::study {
namespace {

/// The pairs of a dataset at one size, whose rows are of one setting.
struct PairRates {
  std::string label{};
  std::string collective{};
  bool simulated = false;
  Bytes size = 0;
  int ranks = 0;
  std::map<std::pair<int, int>, double> GBps{};  ///< medians by sender and receiver
};

PairRates pair_rates_of(const Dataset& dataset, std::optional<Bytes> wanted) {
  const Origin origin = origin_of(dataset);
  PairRates pairs{.simulated = origin == Origin::Simulated};
  const std::string setting = dataset.records.empty() ? "" : setting_of(dataset.records.front());
  pairs.label =
      dataset.label + (setting.empty() ? "" : " " + setting) +
      std::string(origin_suffix({.simulated = pairs.simulated, .fake = origin == Origin::Fake}));
  std::vector<const Record*> rated;
  for (const Record& record : dataset.records) {
    if (!record.sender || !record.receiver) continue;
    pairs.ranks = std::max({pairs.ranks, *record.sender + 1, *record.receiver + 1});
    if (record.status != RowStatus::Ok || !record.busbw_GBps) continue;
    rated.push_back(&record);
    pairs.size = std::max(pairs.size, record.size);
  }
  if (wanted) pairs.size = *wanted;
  std::map<std::pair<int, int>, std::vector<double>> rates;
  for (const Record* record : rated) {
    if (record->size != pairs.size) continue;
    pairs.collective = record->collective;
    rates[{*record->sender, *record->receiver}].push_back(*record->busbw_GBps);
  }
  for (const auto& [pair, values] : rates) pairs.GBps[pair] = stats::median(values);
  return pairs;
}

/// Every ordered pair of two ranks; the diagonal is not a pair.
ChartCurve cells_of(const PairRates& pairs, int panel) {
  ChartCurve curve{.panel = panel, .title = pairs.label, .kind = CurveKind::Cells};
  for (int from = 0; from < pairs.ranks; ++from) {
    for (int to = 0; to < pairs.ranks; ++to) {
      if (from == to) continue;
      const auto known = pairs.GBps.find({from, to});
      ChartPoint cell{.x = static_cast<double>(to), .y = static_cast<double>(from)};
      if (known != pairs.GBps.end()) cell.low = known->second;
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

}  // namespace

ChartRange round_limits(double low, double high) {
  const double width = std::max(high - low, std::max(std::abs(high), 1e-9) * 1e-3);
  const double power = std::pow(10, std::floor(std::log10(width / 5)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (width / step > 10) step = factor * power;
  }
  ChartRange limits{.low = std::floor(low / step + 1e-9) * step,
                    .high = std::ceil(high / step - 1e-9) * step};
  if (limits.high <= limits.low) limits.high = limits.low + step;
  return limits;
}

Chart pairs_figure(std::span<const Dataset> datasets, std::optional<Bytes> size,
                   std::optional<ChartRange> limits) {
  std::vector<PairRates> all;
  for (const Dataset& dataset : datasets) {
    append(all, mapped(split_by(dataset, setting_of),
                       [&](const Dataset& part) { return pair_rates_of(part, size); }));
  }
  std::erase_if(all, [](const PairRates& pairs) { return pairs.GBps.empty(); });
  Chart figure{.name = "pairs"};
  if (all.empty()) return figure;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const PairRates& pairs : all) {
    for (const auto& [pair, rate_GBps] : pairs.GBps) {
      low = std::min(low, rate_GBps);
      high = std::max(high, rate_GBps);
    }
  }
  const auto sizes = set_of(all, &PairRates::size);
  figure.title = "Pairs: " + join_all(set_of(all, &PairRates::collective), ", ");
  if (sizes.size() == 1) figure.title += ", " + format_bytes(*sizes.begin());
  if (std::ranges::all_of(all, &PairRates::simulated)) figure.title += ", simulated";
  for (const PairRates& pairs : all) {
    figure.curves.push_back(cells_of(pairs, static_cast<int>(figure.panels.size())));
    ChartPanel& panel = figure.panels.emplace_back();
    panel.title = pairs.label;
    if (sizes.size() > 1) panel.title += ", " + format_bytes(pairs.size);
    panel.x = ranks_axis("receiver (rank)", pairs.ranks);
    panel.y = ranks_axis("sender (rank)", pairs.ranks);
    std::swap(panel.y.low, panel.y.high);
  }
  const ChartRange range = limits ? *limits : round_limits(low, high);
  figure.colours = ColourScale{
      .title = "bus bandwidth (GB/s)", .unit = "GB/s", .low = range.low, .high = range.high};
  return figure;
}

}  // namespace busbar::study
