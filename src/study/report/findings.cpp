// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/console_table.hpp"
#include "model/collective.hpp"
#include "study/report/data.hpp"

namespace busbar::study {
namespace {

/// Rates at one size, by the number of the curve.
using Rates = std::map<std::size_t, double>;

/// The curve of the highest rate, where all others are behind it.
std::optional<std::size_t> lone_leader(const Rates& rates) {
  const auto best = std::ranges::max_element(rates, {}, &Rates::value_type::second);
  const bool alone = std::ranges::all_of(rates, [&](const auto& rate) {
    return rate.first == best->first || leader(best->second, rate.second) > 0;
  });
  return alone ? std::optional{best->first} : std::nullopt;
}

/// The last size before `until` at which one curve led another; nothing where it never did.
std::optional<Bytes> last_led(const std::map<Bytes, Rates>& sizes, Bytes until, std::size_t one,
                              std::size_t other) {
  std::optional<Bytes> last;
  for (const auto& [size, rates] : sizes) {
    if (size >= until) break;
    const bool both = rates.contains(one) && rates.contains(other);
    if (both && leader(rates.at(one), rates.at(other)) > 0) last = size;
  }
  return last;
}

/// Whether it is compared with figures of others, not with a prediction alone.
bool is_published(const Answer& expected) {
  return expected.reference != ReferenceKind::Prediction;
}

bool is_low(const Answer& expected) {
  return expected.grade == Grade::TooLow ||
         (expected.grade == Grade::Low && is_published(expected));
}

/// "all-reduce, 16 ranks: mine".
std::string name_of(const SizeCurve& curve) {
  return fmt::format("{}, {} ranks: {}", collective_name(curve.key.collective), curve.key.ranks,
                     curve.title);
}

/// "all-reduce, 16 ranks: mine has 196 GB/s at 8 GiB, 0.41 of the median that others measured at
/// this size: too low; first to check: ...".
std::string low_text(const SizeCurve& curve, const Answer& expected) {
  constexpr std::size_t kMostCauses = 2;
  const double rate_GBps = curve.points.back().busbw_GBps.median;
  std::vector<std::string> causes;
  for (const CauseResult& each : expected.causes) {
    if (each.fits && causes.size() < kMostCauses) causes.emplace_back(each.cause->text);
  }
  return fmt::format("{} has {} GB/s at {}, {}{}", name_of(curve), format_figure(rate_GBps),
                     format_bytes(curve.points.back().size), verdict_text(expected, rate_GBps),
                     causes.empty() ? "" : "; first to check: " + join(causes, "; "));
}

/// Why a curve is suspect; nothing where it is not.
void add_suspect(const SizeCurve& curve, const Answer* expected, std::vector<std::string>& found) {
  constexpr double kLowShare = 0.6;
  constexpr double kSuspect = 1.02;
  const bool low = expected != nullptr && is_low(*expected);
  if (low) found.push_back(low_text(curve, *expected));
  const double share = best_share(curve).value_or(1);
  const bool is_compared = low || (expected != nullptr && is_published(*expected));
  if (share <= kSuspect && (share >= kLowShare || is_compared)) return;
  found.push_back(fmt::format(
      "{} reaches {} of its bound{}: {}", name_of(curve), format_percent(share),
      curve.limit.empty() ? "" : fmt::format(" ({})", curve.limit),
      share < kLowShare ? "low" : "more than the links allow, so the value or the bound is wrong"));
}

/// Labels of runs by what may differ, and its value.
using Differences = std::map<std::string, std::map<std::string, std::set<std::string>>>;

Differences differences_of(std::span<const Dataset> datasets) {
  Differences runs;
  for (const Dataset& dataset : datasets) {
    const auto add = [&](std::string_view what, const std::string& value) {
      if (!value.empty()) runs[std::string(what)][value].insert(dataset.label);
    };
    add(key(fact::kBusbar), dataset.fact(fact::kBusbar));
    if (!dataset.records.empty()) add("origin", std::string(name(origin_of(dataset))));
    if (dataset.simulated) continue;
    for (const Fact& fact : {fact::kLibrary, fact::kDriver}) add(key(fact), dataset.fact(fact));
    for (const Record& record : dataset.records) add("cadence", record.cadence);
  }
  return runs;
}

}  // namespace

const SizePoint& highest_point(const SizeCurve& curve) {
  return *std::ranges::max_element(curve.points, {},
                                   [](const SizePoint& point) { return point.busbw_GBps.median; });
}

int leader(double first_GBps, double second_GBps) {
  constexpr double kLevel = 0.02;
  const double level = kLevel * std::max(first_GBps, second_GBps);
  if (first_GBps - second_GBps > level) return 1;
  return second_GBps - first_GBps > level ? -1 : 0;
}

std::vector<LeadChange> crossings(std::span<const SizeCurve> curves) {
  std::map<Bytes, Rates> sizes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const SizePoint& point : curves[i].points) sizes[point.size][i] = point.busbw_GBps.median;
  }
  std::vector<LeadChange> found;
  std::optional<std::size_t> leads;
  for (const auto& [size, rates] : sizes) {
    if (rates.size() < 2 || (leads && !rates.contains(*leads))) continue;
    const std::optional<std::size_t> now = lone_leader(rates);
    if (!now || now == leads) continue;
    // A curve that begins beyond its rival's sizes has overtaken no other.
    const auto after = leads ? last_led(sizes, size, *leads, *now) : std::nullopt;
    if (after) found.push_back({.after = *after, .until = size, .loser = *leads, .winner = *now});
    leads = now;
  }
  return found;
}

std::vector<std::string> crossing_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const SizeCurves& collective : data.collectives) {
    for (const auto& [curves, common] : split_by_ranks(collective)) {
      for (const LeadChange& crossing : crossings(curves)) {
        found.push_back(fmt::format("{} overtakes {} between {} and {}",
                                    name_of(curves[crossing.winner]), curves[crossing.loser].title,
                                    format_bytes(crossing.after), format_bytes(crossing.until)));
      }
    }
  }
  return found;
}

std::optional<double> best_share(const SizeCurve& curve) {
  const double bound_GBps = curve.points.back().bound_GBps.value_or(0);
  if (bound_GBps <= 0) return std::nullopt;
  return highest_point(curve).busbw_GBps.median / bound_GBps;
}

std::vector<std::string> suspect_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const SizeCurves& collective : data.collectives) {
    for (const SizeCurve& curve : collective.curves) {
      const auto known = data.expectations.find(curve.key);
      add_suspect(curve, known == data.expectations.end() ? nullptr : &known->second, found);
    }
  }
  for (const Dataset& dataset : data.datasets) {
    LateCount late;
    for (const Record& record : dataset.records) late.add(record);
    const std::string text = late.text();
    if (!text.empty()) found.push_back(fmt::format("{}: {}", dataset.label, text));
  }
  append(found, data.curve_findings);
  return found;
}

std::vector<std::string> comparison_warnings(const ReportData& data) {
  std::vector<std::string> warnings = problems_of(data.datasets);
  const auto wrong = filtered(data.datasets, [](const Dataset& dataset) {
    return any_has(dataset.records, RowStatus::Wrong, &Record::status);
  });
  if (!wrong.empty()) {
    warnings.push_back(fmt::format("rows with wrong data are left out: {}",
                                   fmt::join(set_of(wrong, &Dataset::label), ", ")));
  }
  for (const auto& [what, values] : differences_of(data.datasets)) {
    if (values.size() < 2) continue;
    const std::string text = join_each(values, "; ", [](const auto& value) {
      return fmt::format("{} ({})", value.first, fmt::join(value.second, ", "));
    });
    warnings.push_back(fmt::format("runs differ in {}: {}", what, text));
  }
  return warnings;
}

}  // namespace busbar::study
