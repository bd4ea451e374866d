// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/row_key.hpp"
#include "model/sweep.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

/// Half a step of tolerance: a size is rounded down to what divides by type and ranks.
bool has_between(const Sweep& sweep, double below, double above) {
  const auto first = static_cast<double>(sweep.first);
  const auto last = static_cast<double>(sweep.last);
  if (sweep.factor > 1) {
    const auto factor = static_cast<double>(sweep.factor);
    const double half = std::sqrt(factor);
    const double least = std::max(1.0, first);
    const double steps =
        std::ceil(std::log(std::max(1.0, below * half / least)) / std::log(factor) - 1e-9);
    const double next = least * std::pow(factor, steps);
    return next < above / half && next <= last;
  }
  const auto step = static_cast<double>(sweep.step);
  const double steps = std::ceil(std::max(0.0, below + step / 2 - first) / step);
  const double next = first + steps * step;
  return next < above - step / 2 && next <= last;
}

/// The sizes that the datasets meant to measure, so that a curve knows where one is missing.
class PlannedSizes {
 public:
  explicit PlannedSizes(std::span<const Dataset> datasets);

  /// Whether a size between these two neighbours of a curve was planned: by the head's
  /// "sizes=FIRST-LASTxFACTOR" or "+STEP", or by a row without a value.
  [[nodiscard]] bool missing_between(const CurveKey& key, Bytes below, Bytes above) const;

 private:
  /// The sizes of one collective in a dataset.
  struct PlannedSweep {
    std::string label{};
    std::string collective{};
    Sweep sweep{};
  };

  std::vector<PlannedSweep> sweeps_{};
  std::map<std::pair<std::string, RowKey>, std::set<Bytes>> rows_{};  ///< by label and row
};

PlannedSizes::PlannedSizes(std::span<const Dataset> datasets) {
  for (const Dataset& dataset : datasets) {
    if (const auto sweep = parse_sweep(dataset.setting("sizes"))) {
      sweeps_.push_back({dataset.label, dataset.setting("collective"), *sweep});
    }
    for (const Record& r : dataset.records) {
      const RowKey row{.collective = r.collective,
                       .type = r.type,
                       .op = r.op,
                       .ranks = r.ranks,
                       .in_place = r.in_place};
      rows_[{dataset.label, row}].insert(r.size);
    }
  }
}

bool PlannedSizes::missing_between(const CurveKey& key, Bytes below, Bytes above) const {
  const RowKey row{.collective = key.collective,
                   .type = key.type,
                   .op = key.op,
                   .ranks = key.ranks,
                   .in_place = key.in_place};
  if (const auto known = rows_.find({key.label, row}); known != rows_.end()) {
    const auto next = known->second.upper_bound(below);
    if (next != known->second.end() && *next < above) return true;
  }
  return std::any_of(sweeps_.begin(), sweeps_.end(), [&](const PlannedSweep& planned) {
    return planned.label == key.label && planned.collective == key.collective &&
           has_between(planned.sweep, static_cast<double>(below), static_cast<double>(above));
  });
}

/// Median of what the launches have; empty where one of them has nothing.
std::optional<double> median_of(std::span<const Record> launches,
                                std::optional<double> Record::*member) {
  std::vector<double> values;
  for (const Record& launch : launches) {
    if (!(launch.*member)) return {};
    values.push_back(*(launch.*member));
  }
  return stats::median(values);
}

std::string choice_of(std::span<const Record> launches) {
  const Record& first = launches.front();
  const bool same = std::all_of(launches.begin(), launches.end(), [&](const Record& launch) {
    return launch.algorithm == first.algorithm && launch.protocol == first.protocol;
  });
  if (!same || first.protocol.empty()) return same ? first.algorithm : std::string();
  return first.algorithm + '/' + first.protocol;
}

void set_range_of_launches(SizePoint& point, std::span<const Record> launches) {
  const auto [low, high] = std::minmax_element(
      launches.begin(), launches.end(),
      [](const Record& a, const Record& b) { return *a.busbw_GBps < *b.busbw_GBps; });
  point.busbw_low = low->busbw_GBps;
  point.busbw_high = high->busbw_GBps;
  point.time_low = high->time_median_us;
  point.time_high = low->time_median_us;
}

/// The interval of a time becomes one of the bandwidth: bandwidth * median / limit.
void set_interval(SizePoint& point, const Record& record) {
  if (!record.time_ci_low_us || !record.time_ci_high_us) return;
  if (*record.time_ci_low_us <= 0) return;
  const double work = *record.busbw_GBps * *record.time_median_us;
  point.busbw_low = work / *record.time_ci_high_us;
  point.busbw_high = work / *record.time_ci_low_us;
  point.time_low = record.time_ci_low_us;
  point.time_high = record.time_ci_high_us;
}

SizePoint point_of(std::span<const Record> launches) {
  SizePoint point{.size = launches.front().size,
                  .busbw_GBps = median_of(launches, &Record::busbw_GBps).value_or(0),
                  .time_us = median_of(launches, &Record::time_median_us).value_or(0),
                  .time_p99_us = median_of(launches, &Record::time_p99_us),
                  .bound_GBps = median_of(launches, &Record::bound_GBps),
                  .bound_kind = launches.back().bound_kind,
                  .choice = choice_of(launches)};
  if (launches.size() > 1) {
    set_range_of_launches(point, launches);
  } else {
    set_interval(point, launches.front());
  }
  return point;
}

std::vector<SizePoint> points_of(const Curve& curve, const PlannedSizes& planned) {
  std::vector<SizePoint> points;
  auto first = curve.points.begin();
  while (first != curve.points.end()) {
    const auto last = std::find_if(first, curve.points.end(),
                                   [&](const Record& r) { return r.size != first->size; });
    SizePoint point = point_of({first, last});
    point.gap_before =
        !points.empty() && planned.missing_between(curve.key, points.back().size, point.size);
    point.in_place_only = first->in_place && !curve.key.in_place;
    points.push_back(point);
    first = last;
  }
  return points;
}

/// What may distinguish curves, in the order of their names; the last two only where nothing else
/// does.
std::array<std::string, 6> parts_of(const CurveKey& key) {
  return {key.label,
          key.collective,
          key.op.empty() || key.op == "none" ? key.type : fmt::format("{} {}", key.type, key.op),
          key.in_place ? "in place" : "out of place",
          counted(static_cast<std::size_t>(std::max(key.nodes, 0)), "node"),
          key.device_set};
}
constexpr std::size_t kMainParts = 4;

std::string joined(const std::vector<std::string>& words) {
  std::vector<std::string> given;
  std::copy_if(words.begin(), words.end(), std::back_inserter(given),
               [](const std::string& word) { return !word.empty(); });
  return join(given, ", ");
}

/// What distinguishes the lines of a system in one panel, whatever they were measured by.
CurveKey line_of(CurveKey key) {
  key.ranks = 0;
  key.nodes = 0;
  key.device_set.clear();
  key.simulated = key.fake = key.imported = false;
  return key;
}

std::string main_parts(const CurveKey& key) {
  return joined({key.label, key.collective, key.type, key.op, key.in_place ? "in" : "out"});
}

/// The values of each part over all curves.
using PartValues = std::array<std::set<std::string>, 6>;

PartValues values_of(std::span<const CurveKey> keys) {
  PartValues values;
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    for (std::size_t i = 0; i < parts.size(); ++i) values.at(i).insert(parts.at(i));
  }
  return values;
}

/// What all curves share, and whether they are simulated.
std::string common_words(std::span<const CurveKey> keys, const PartValues& values) {
  std::vector<std::string> common;
  for (std::size_t i = 0; i < kMainParts; ++i) {
    if (values.at(i).size() == 1) common.push_back(*values.at(i).begin());
  }
  const auto count = [&](bool CurveKey::*origin) {
    return static_cast<std::size_t>(
        std::count_if(keys.begin(), keys.end(), [&](const CurveKey& key) { return key.*origin; }));
  };
  if (const std::size_t simulated = count(&CurveKey::simulated); simulated > 0) {
    common.emplace_back(simulated == keys.size() ? "simulated" : "dashed: simulated");
  }
  if (count(&CurveKey::imported) == keys.size()) common.emplace_back("imported means");
  if (count(&CurveKey::fake) > 0) common.emplace_back("fake GPUs: no figure is real");
  return joined(common);
}

}  // namespace

void keep_collective_rows(std::vector<Dataset>& datasets, PlotPlacement placement) {
  for (Dataset& dataset : datasets) {
    std::erase_if(dataset.records, [&](const Record& record) {
      const bool other =
          placement != PlotPlacement::Both && record.in_place != (placement == PlotPlacement::In);
      return other || record.sender || record.receiver;
    });
  }
}

SizeCurves size_curves(std::vector<Dataset> datasets, PlotPlacement placement) {
  const bool out = placement == PlotPlacement::Out;
  keep_collective_rows(datasets, out ? PlotPlacement::Both : placement);
  const PlannedSizes planned(datasets);
  std::vector<CurveKey> keys;
  SizeCurves result;
  std::vector<Curve> curves = curves_of(datasets);
  if (out) prefer_out_of_place(curves);
  for (const Curve& curve : curves) {
    keys.push_back(curve.key);
    result.curves.push_back({.key = curve.key, .points = points_of(curve, planned)});
  }
  CurveNames names = curve_names(keys);
  const std::vector<CurveStyle> styles = curve_styles(keys);
  for (std::size_t i = 0; i < result.curves.size(); ++i) {
    result.curves[i].title = std::move(names.titles[i]);
    result.curves[i].style = styles[i];
  }
  result.common = std::move(names.common);
  return result;
}

CurveNames curve_names(std::span<const CurveKey> keys) {
  const PartValues values = values_of(keys);
  CurveNames names{.titles = {}, .common = common_words(keys, values)};
  std::map<std::pair<int, std::string>, int> seen;  // per number of ranks
  for (const CurveKey& key : keys) ++seen[{key.ranks, main_parts(key)}];
  const bool some_measured =
      std::any_of(keys.begin(), keys.end(), [](const CurveKey& key) { return !key.imported; });
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    const bool twin = seen[{key.ranks, main_parts(key)}] > 1;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < (twin ? parts.size() : kMainParts); ++i) {
      if (values.at(i).size() > 1) words.push_back(parts.at(i));
    }
    if (words.empty()) words.push_back(key.label);
    names.titles.push_back(joined(words) + std::string(origin_suffix(key)));
    if (key.imported && some_measured) names.titles.back() += " (imported means)";
  }
  return names;
}

std::vector<std::size_t> lines_of_systems(std::span<const CurveKey> keys) {
  std::map<std::string, std::set<CurveKey>> lines;
  for (const CurveKey& key : keys) lines[key.label].insert(line_of(key));
  std::map<std::tuple<int, bool, CurveKey>, std::size_t> twins;
  std::vector<std::size_t> result;
  for (const CurveKey& key : keys) {
    const std::set<CurveKey>& known = lines.at(key.label);
    const CurveKey line = line_of(key);
    const auto at = static_cast<std::size_t>(std::distance(known.begin(), known.find(line)));
    // Curves that differ by devices or nodes alone stand in one panel.
    result.push_back(at + known.size() * twins[{key.ranks, key.simulated, line}]++);
  }
  return result;
}

std::vector<CurveStyle> curve_styles(std::span<const CurveKey> keys) {
  std::vector<std::string> systems;
  for (const CurveKey& key : keys) systems.push_back(key.label);
  const Palette styles(systems);
  const std::vector<std::size_t> lines = lines_of_systems(keys);
  std::vector<CurveStyle> result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    result.push_back(styles.of(keys[i].label, lines[i], keys[i].simulated));
  }
  return result;
}

}  // namespace busbar
