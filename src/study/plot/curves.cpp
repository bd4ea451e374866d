// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/collective.hpp"
#include "model/flag.hpp"
#include "model/sweep.hpp"
#include "stats/summary.hpp"

namespace busbar::study {
namespace {

/// With half a step of tolerance: a size is rounded down to what divides by type and ranks.
bool has_between(const Sweep& sweep, Bytes below, Bytes above) {
  const auto step = static_cast<double>(sweep.step);
  double low = static_cast<double>(below) + step / 2;
  double high = static_cast<double>(above) - step / 2;
  auto next = static_cast<double>(sweep.first);
  if (sweep.factor > 1) {
    const auto factor = static_cast<double>(sweep.factor);
    low = static_cast<double>(below) * std::sqrt(factor) * (1 - 1e-9);
    high = static_cast<double>(above) / std::sqrt(factor);
    for (next = std::max(next, 1.0); next < low;) next *= factor;
  } else if (next < low) {
    next += std::ceil((low - next) / step) * step;
  }
  return next < high && next <= static_cast<double>(sweep.last);
}

/// The sizes that the datasets meant to measure of a curve, so that it knows where one is missing:
/// those of its rows, whatever became of them, and of the heads' "sizes=FIRST-LASTxFACTOR" or
/// "+STEP".
struct PlannedSizes {
  PlannedSizes(std::span<const Dataset> datasets, const CurveKey& key) {
    for (const Dataset& dataset : datasets) {
      if (dataset.label != key.label) continue;
      const auto sweep = parse_sweep(dataset.setting("sizes"));
      if (sweep && dataset.setting("collective") == key.collective) sweeps.push_back(*sweep);
      for (const Record& r : dataset.records) {
        const bool same = r.collective == key.collective && r.type == key.type && r.op == key.op &&
                          r.ranks == key.ranks && r.in_place == key.in_place &&
                          setting_of(r) == key.setting;
        if (same) rows.insert(r.size);
      }
    }
  }

  [[nodiscard]] bool has_any_between(Bytes below, Bytes above) const {
    const auto next = rows.upper_bound(below);
    return (next != rows.end() && *next < above) ||
           std::ranges::any_of(
               sweeps, [&](const Sweep& sweep) { return has_between(sweep, below, above); });
  }

  std::vector<Sweep> sweeps{};
  std::set<Bytes> rows{};
};

/// Rows of one curve by size, rising. Those of several cycles or launches at one size stay side by
/// side; skipped and failed ones are left out, so that a gap stays a gap.
using Rows = std::vector<const Record*>;

bool has_value(const Record& record) {
  return record.status == RowStatus::Ok && record.time_median_us && record.busbw_GBps &&
         !contradicts_itself(record);
}

CurveKey key_of(const Dataset& dataset, const Record& record) {
  return {.label = dataset.label,
          .collective = record.collective,
          .type = record.type,
          .op = record.op,
          .ranks = record.ranks,
          .nodes = record.nodes,
          .in_place = record.in_place,
          .simulated = dataset.simulated,
          .fake = has_flag(record, Flag::Fake),
          .imported = has_flag(record, Flag::Imported),
          .device_set = record.device_set,
          .root = record.root,
          .setting = setting_of(record),
          .group = record.group
                       ? fmt::format("round {} group {}", record.round.value_or(0), *record.group)
                       : ""};
}

/// Leaves one curve of two that differ by the placement alone: the one out of place, with the rows
/// of sizes that were measured in place only.
void prefer_out_of_place(std::map<CurveKey, Rows>& curves) {
  std::erase_if(curves, [&](const auto& curve) {
    CurveKey key = curve.first;
    key.in_place = false;
    const auto twin = curves.find(key);
    if (!curve.first.in_place || twin == curves.end()) return false;
    append(twin->second,
           filtered(curve.second, [known = set_of(twin->second, &Record::size)](const Record* row) {
             return !known.contains(row->size);
           }));
    return true;
  });
}

std::map<CurveKey, Rows> rows_by_curve(std::span<const Dataset> datasets, bool out_of_place) {
  std::map<CurveKey, Rows> curves;
  constexpr std::size_t kMostGroups = 8;
  for (const Dataset& dataset : datasets) {
    const auto group = [](const Record& record) { return std::pair(record.round, record.group); };
    const bool apart = set_of(dataset.records, group).size() <= kMostGroups;
    for (const Record& record : dataset.records) {
      CurveKey key = key_of(dataset, record);
      if (record.group && !apart) key.group = "range of the groups";
      if (has_value(record)) curves[key].push_back(&record);
    }
  }
  if (out_of_place) prefer_out_of_place(curves);
  for (auto& [key, rows] : curves) std::ranges::stable_sort(rows, {}, &Record::size);
  return curves;
}

/// Median of what the launches have; empty where one of them has nothing.
std::optional<double> median_of(std::span<const Record* const> launches,
                                std::optional<double> Record::*member) {
  std::vector<double> values;
  for (const Record* launch : launches) {
    if (!(launch->*member)) return {};
    values.push_back(*(launch->*member));
  }
  return stats::median(values);
}

std::string choice_of(std::span<const Record* const> launches) {
  const Record& first = *launches.front();
  const bool same = std::ranges::all_of(launches, [&](const Record* launch) {
    return launch->algorithm == first.algorithm && launch->protocol == first.protocol;
  });
  if (!same || first.protocol.empty()) return same ? first.algorithm : std::string();
  return first.algorithm + '/' + first.protocol;
}

SizePoint point_of(std::span<const Record* const> launches) {
  SizePoint point{.size = launches.front()->size,
                  .busbw_GBps = {median_of(launches, &Record::busbw_GBps).value_or(0)},
                  .time_us = {median_of(launches, &Record::time_median_us).value_or(0)},
                  .time_p99_us = median_of(launches, &Record::time_p99_us),
                  .bound_GBps = median_of(launches, &Record::bound_GBps),
                  .choice = choice_of(launches)};
  const auto [slow, fast] =
      std::ranges::minmax(launches, {}, [](const Record* one) { return *one->busbw_GBps; });
  if (launches.size() > 1) {
    point.busbw_GBps = {point.busbw_GBps.median, slow->busbw_GBps, fast->busbw_GBps};
    point.time_us = {point.time_us.median, fast->time_median_us, slow->time_median_us};
  } else if (slow->time_ci_low_us.value_or(0) > 0 && slow->time_ci_high_us) {
    // The interval of a time becomes one of the bandwidth: bandwidth * median / limit.
    const double work = point.busbw_GBps.median * point.time_us.median;
    point.busbw_GBps = {point.busbw_GBps.median, work / *slow->time_ci_high_us,
                        work / *slow->time_ci_low_us};
    point.time_us = {point.time_us.median, slow->time_ci_low_us, slow->time_ci_high_us};
  }
  return point;
}

SizeCurve size_curve(const CurveKey& key, const Rows& rows, std::span<const Dataset> datasets) {
  PlannedSizes planned(datasets, key);
  SizeCurve result{.key = key, .limit = rows.back()->bound_kind};
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last =
        std::find_if(first, rows.end(), [&](const Record* r) { return r->size != (*first)->size; });
    SizePoint point = point_of({first, last});
    point.gap_before =
        !result.points.empty() && planned.has_any_between(result.points.back().size, point.size);
    point.in_place_only = (*first)->in_place && !key.in_place;
    result.points.push_back(std::move(point));
    first = last;
  }
  result.missing = std::move(planned.rows);
  for (const SizePoint& point : result.points) result.missing.erase(point.size);
  return result;
}

std::string placement_text(const CurveKey& key) {
  return key.in_place ? "in place" : "out of place";
}

/// What may distinguish curves, in the order of their names; the last three only where nothing else
/// does.
constexpr std::size_t kMainParts = 6;
std::array<std::string, 9> parts_of(const CurveKey& key) {
  return {key.label,
          key.setting,
          key.collective,
          key.op.empty() || key.op == "none" ? key.type : fmt::format("{} {}", key.type, key.op),
          placement_text(key),
          key.group,
          counted(std::max(key.nodes, 0), "node"),
          key.device_set,
          key.root ? fmt::format("root {}", *key.root) : ""};
}

std::string join_given(std::vector<std::string> texts) {
  std::erase(texts, "");
  return join(texts, ", ");
}

/// What distinguishes the lines of a system in one panel, whatever they were measured by.
CurveKey line_of(const CurveKey& key) {
  CurveKey line = without_ranks(key);
  line.simulated = line.fake = line.imported = false;
  line.root.reset();
  return line;
}

/// The values of each part over all curves.
using PartValues = std::array<std::set<std::string>, 9>;

/// The first parts that distinguish curves; the label where none does.
std::string title_of(const CurveKey& key, const PartValues& values, std::size_t count) {
  const auto parts = parts_of(key);
  std::vector<std::string> different;
  for (std::size_t i = 0; i < count; ++i) {
    if (values.at(i).size() > 1) different.push_back(parts.at(i));
  }
  return different.empty() ? key.label : join_given(std::move(different));
}

/// What all curves share, and whether they are simulated.
std::string common_text(std::span<const CurveKey> keys, const PartValues& values) {
  std::vector<std::string> shared;
  for (std::size_t i = 0; i < kMainParts; ++i) {
    if (values.at(i).size() == 1) shared.push_back(*values.at(i).begin());
  }
  if (const std::size_t simulated = count_of(keys, &CurveKey::simulated); simulated > 0) {
    shared.emplace_back(simulated == keys.size() ? "simulated" : "dashed: simulated");
  }
  if (std::ranges::all_of(keys, &CurveKey::imported)) shared.emplace_back("imported means");
  if (std::ranges::any_of(keys, &CurveKey::fake)) {
    shared.emplace_back("fake GPUs: no figure is real");
  }
  return join_given(std::move(shared));
}

double rate_at(const SizePoint& point) { return point.busbw_GBps.median; }

/// Whether one is below the other beyond their intervals.
bool is_below(const Spread& low, const Spread& high) {
  return low.high.value_or(low.median) < high.low.value_or(high.median);
}

/// By how much a size is slow beside another one.
struct Slowness {
  const SizePoint* point = nullptr;
  const SizePoint* other = nullptr;
  double factor = 0;  ///< times_slower; 0: it is not slow
};

/// Of times where the other is larger, else of rates; 0: not beyond their intervals.
double times_slower(const SizePoint& point, const SizePoint& other) {
  const bool larger = other.size > point.size;
  const Spread& low = larger ? other.time_us : point.busbw_GBps;
  const Spread& high = larger ? point.time_us : other.busbw_GBps;
  return low.median > 0 && is_below(low, high) ? high.median / low.median : 0;
}

Slowness slowness_of(const SizePoint& point, std::span<const SizePoint> points) {
  const double least_of_times = point.size < kMiB ? kSlower : kSlowerLarge;
  const SizePoint* const before = &point == &points.front() ? nullptr : &point - 1;
  const SizePoint* const after = &point == &points.back() ? nullptr : &point + 1;
  const bool rises = after != nullptr && is_below(point.busbw_GBps, after->busbw_GBps) &&
                     rate_at(*after) >= kNotch * rate_at(point);
  Slowness worst{.point = &point};
  for (const SizePoint& other : points) {
    const double least_of_rates = rises && &other == before ? kNotch : 1 / kFallen;
    const double least = other.size > point.size ? least_of_times : least_of_rates;
    const double factor = times_slower(point, other);
    if (factor <= least || factor <= worst.factor) continue;
    worst.other = &other;
    worst.factor = factor;
  }
  return worst;
}

std::string slow_text(const Slowness& worst, Bytes first, Bytes last) {
  const auto& [point, other, factor] = worst;
  std::string text =
      other->size > point->size
          ? fmt::format("takes {} us at {} and {} at {} ({:.3g} times)",
                        format_figure(point->time_us.median), format_bytes(point->size),
                        format_figure(other->time_us.median), format_bytes(other->size), factor)
          : fmt::format("falls from {} GB/s at {} to {} at {} (1/{:.3g})",
                        format_figure(rate_at(*other)), format_bytes(other->size),
                        format_figure(rate_at(*point)), format_bytes(point->size), factor);
  if (first != last) {
    text += fmt::format(": slow from {} to {}", format_bytes(first), format_bytes(last));
  }
  if (!other->choice.empty() && !point->choice.empty() && other->choice != point->choice) {
    text += fmt::format("; NCCL chose {} at {}, {} at {}", other->choice, format_bytes(other->size),
                        point->choice, format_bytes(point->size));
  }
  return text;
}

/// Slow sizes side by side are one finding.
void add_slow_sizes(const SizeCurve& curve, std::vector<CurveFinding>& found) {
  const auto sizes = mapped(
      curve.points, [&](const SizePoint& point) { return slowness_of(point, curve.points); });
  for (auto first = sizes.begin(); first != sizes.end(); ++first) {
    const auto last = std::ranges::find(first, sizes.end(), 0, &Slowness::factor);
    if (first == last) continue;
    const Slowness& worst = *std::max_element(
        first, last, [](const auto& a, const auto& b) { return a.factor < b.factor; });
    CurveFinding& finding = found.emplace_back(CurveFinding{
        curve.key,
        fmt::format("{} {}", placement_text(curve.key),
                    slow_text(worst, first->point->size, std::prev(last)->point->size)),
        worst.factor});
    for (; first != last; ++first) {
      if (first->factor > 1 / kFallen) finding.size = first->point->size;
    }
    if (first == sizes.end()) break;
  }
}

/// Where one placement has less than kFallen of the other: the worst of these sizes.
void add_placement(const SizeCurve& slow, const SizeCurve& fast, std::vector<CurveFinding>& found) {
  const SizePoint* worst = nullptr;
  double least = kFallen;
  std::size_t sizes = 0;
  Bytes largest = 0;
  for (const SizePoint& point : slow.points) {
    const SizePoint* other = point_at(fast, point.size);
    if (other == nullptr || rate_at(*other) <= 0) continue;
    const double share = rate_at(point) / rate_at(*other);
    if (share >= kFallen) continue;
    ++sizes;
    largest = point.size;
    if (share >= least) continue;
    least = share;
    worst = &point;
  }
  if (worst == nullptr) return;
  std::string text = fmt::format(
      "{} has {} GB/s at {}, {} {}: less than half at {}", placement_text(slow.key),
      format_figure(rate_at(*worst)), format_bytes(worst->size), placement_text(fast.key),
      format_figure(rate_at(*point_at(fast, worst->size))), counted(sizes, "size"));
  found.push_back({slow.key, std::move(text), 1 / least, largest});
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
  SizeCurves result;
  for (const auto& [key, rows] : rows_by_curve(datasets, out)) {
    result.curves.push_back(size_curve(key, rows, datasets));
  }
  result.common = set_looks(mapped(result.curves, &SizeCurve::key), result.curves);
  return result;
}

const SizePoint* point_at(const SizeCurve& curve, Bytes size) {
  return find_by(curve.points, size, &SizePoint::size);
}

CurveKey without_ranks(CurveKey key) {
  key.ranks = 0;
  key.nodes = 0;
  key.device_set.clear();
  return key;
}

CurveLooks curve_looks(std::span<const CurveKey> keys, std::vector<std::string> systems) {
  PartValues values;
  std::map<std::pair<int, CurveKey>, int> twins;
  std::map<std::string, std::set<CurveKey>> lines;
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    for (std::size_t i = 0; i < parts.size(); ++i) values.at(i).insert(parts.at(i));
    ++twins[{key.ranks, line_of(key)}];
    lines[key.label].insert(line_of(key));
  }
  CurveLooks looks{.common = common_text(keys, values)};
  if (!systems.empty()) values.front().insert("");  // as if there were others
  append(systems, mapped(keys, &CurveKey::label));
  const Palette palette(systems);
  const bool all_imported = std::ranges::all_of(keys, &CurveKey::imported);
  std::map<std::tuple<int, bool, CurveKey>, std::size_t> in_panel;
  for (const CurveKey& key : keys) {
    const CurveKey line = line_of(key);
    const bool twin = twins[{key.ranks, line}] > 1;
    looks.titles.push_back(title_of(key, values, twin ? values.size() : kMainParts) +
                           std::string(origin_suffix(key)));
    if (key.imported && !all_imported) looks.titles.back() += " (imported means)";
    const std::set<CurveKey>& known = lines.at(key.label);
    const auto at = static_cast<std::size_t>(std::distance(known.begin(), known.find(line)));
    // Curves that differ by devices or nodes alone stand in one panel.
    const std::size_t number = at + known.size() * in_panel[{key.ranks, key.simulated, line}]++;
    looks.styles.push_back(palette.of(key.label, number, key.simulated));
  }
  return looks;
}

std::string curve_and_text(const CurveFinding& finding) {
  const CurveKey& key = finding.key;
  return fmt::format("{}, {} ranks: {}{}, {}", collective_name(key.collective), key.ranks,
                     key.label, origin_suffix(key), finding.text);
}

std::vector<CurveFinding> curve_findings(std::span<const SizeCurve> curves) {
  std::vector<CurveFinding> found;
  for (const SizeCurve& curve : curves) {
    if (curve.key.ranks == 1) continue;
    add_slow_sizes(curve, found);
    CurveKey twin = curve.key;  // of the other placement
    twin.in_place = !twin.in_place;
    const SizeCurve* other = find_by(curves, twin, &SizeCurve::key);
    if (other != nullptr) add_placement(curve, *other, found);
  }
  std::ranges::stable_sort(found, std::greater(), &CurveFinding::factor);
  return found;
}

}  // namespace busbar::study
