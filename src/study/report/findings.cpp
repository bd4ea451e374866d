// SPDX-License-Identifier: BSD-3-Clause
#include "study/report/findings.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/late_count.hpp"
#include "format/topo_text.hpp"
#include "model/collective.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::study {
namespace {

/// Whether the first is greater by more than a share of it.
bool exceeds(double one, double other, double share) {
  return one - other > share * std::max(one, other);
}

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

struct Rated {
  std::string title{};
  double GBps = 0;
  Bytes size = 0;
};

/// "a is fastest with 130 GB/s; behind: b 120 (1/1.08)", or who is level.
std::string ranking_text(const ReportPanel& panel, Bytes size) {
  auto rated = mapped(panel.curves, [&](const SizeCurve& curve) {
    return Rated{panel.title(curve), point_at(curve, size)->busbw_GBps.median, size};
  });
  std::ranges::stable_sort(rated, std::greater(), &Rated::GBps);
  const double best = rated.front().GBps;
  std::vector<std::string> level;
  std::vector<std::string> behind;
  for (const auto& [title, rate_GBps, at] : rated) {
    if (leader(best, rate_GBps) == 0) {
      level.push_back(title);
    } else {
      behind.push_back(fmt::format("{} {}", title, format_figure(rate_GBps)));
      if (rate_GBps > 0) behind.back() += fmt::format(" (1/{:.3g})", best / rate_GBps);
    }
  }
  return fmt::format("{} {} {} GB/s{}", join_and(level),
                     level.size() > 1 ? "are level at" : "is fastest with", format_figure(best),
                     behind.empty() ? "" : "; behind: " + join(behind, ", "));
}

/// "b 482 GB/s (16 GiB), a 130 (128 MiB)": the highest rate of each curve, wherever it is.
std::string highest_text(const ReportPanel& panel) {
  std::vector<Rated> rated;
  for (const SizeCurve& curve : panel.curves) {
    const SizePoint& most = highest_point(curve);
    rated.push_back({panel.title(curve), most.busbw_GBps.median, most.size});
  }
  std::ranges::stable_sort(rated, std::greater(), &Rated::GBps);
  return join_each(rated, ", ", [&](const Rated& one) {
    return fmt::format("{} {}{} ({})", one.title, format_figure(one.GBps),
                       &one == &rated.front() ? " GB/s" : "", format_bytes(one.size));
  });
}

/// Sizes that all curves of a panel have, rising.
std::vector<Bytes> common_sizes(const ReportPanel& panel) {
  std::vector<Bytes> common;
  for (const SizePoint& point : panel.curves.front().points) {
    const bool all = std::ranges::all_of(panel.curves, [&](const SizeCurve& curve) {
      return point_at(curve, point.size) != nullptr;
    });
    if (all) common.push_back(point.size);
  }
  return common;
}

/// The size at which curves differ most, by the ratio of their highest and lowest rate.
Bytes widest_of(const ReportPanel& panel, const std::vector<Bytes>& sizes) {
  return *std::ranges::max_element(sizes, {}, [&](Bytes size) {
    const auto rates = mapped(panel.curves, [&](const SizeCurve& curve) {
      return point_at(curve, size)->busbw_GBps.median;
    });
    const auto [least, most] = std::ranges::minmax_element(rates);
    return *least > 0 ? *most / *least : 0;
  });
}

/// "20.5 GB/s over 2 ranks, 80.8 over 4".
std::string steps_text(const ScalingCurve& curve) {
  std::vector<std::string> steps;
  for (const auto& [ranks, point] : curve.points) {
    if (point == nullptr) continue;
    const std::string rate = format_figure(point->busbw_GBps.median);
    steps.push_back(steps.empty() ? fmt::format("{} GB/s over {} ranks", rate, ranks)
                                  : fmt::format("{} over {}", rate, ranks));
  }
  return join(steps, ", ");
}

/// "all-reduce of 1 GiB".
std::string exchange_text(const Scaling& scaling) {
  return fmt::format("{} of {}", collective_name(scaling.curves.front().key.collective),
                     format_bytes(scaling.size));
}

/// "simulated all-reduce of 1 GiB runs at 20.5 GB/s over 2 ranks, 80.8 over 4: rising".
std::string curve_text(std::span<const Scaling> scalings, const std::string& system) {
  for (const Scaling& scaling : scalings) {
    for (const ScalingCurve& curve : scaling.curves) {
      if (curve.key.label != system) continue;
      const Trend trend = trend_of(rates_of(curve));
      return fmt::format("{}{} runs at {}{}{}", curve.key.simulated ? "simulated " : "",
                         exchange_text(scaling), steps_text(curve),
                         trend == Trend::None ? "" : ": ", name(trend));
    }
  }
  return {};
}

/// The size at which the choice of devices matters most.
std::string choice_text(const ReportSystem& system) {
  const SetsOfSize* most = nullptr;
  double factor = kAvoid;
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.best || !sets.worst || sets.worst->bound.bound_GBps <= 0) continue;
    const double now = sets.best->bound.bound_GBps / sets.worst->bound.bound_GBps;
    if (now < factor) continue;
    factor = now;
    most = &sets;
  }
  if (system.sets.empty()) return {};
  if (most == nullptr) return "which devices a job gets makes little difference";
  return fmt::format("of {} {} the best set, {}, has {:.3g} times the bandwidth of the worst, {}",
                     most->k, device_noun(system), topo::describe_set(most->best->bound.devices),
                     factor, topo::describe_set(most->worst->bound.devices));
}

/// Whether it is compared with figures of others, not with a prediction alone.
bool is_published(const CurveExpectation& expectation) {
  return expectation.expected.reference != ReferenceKind::Prediction;
}

bool is_low(const CurveExpectation& expectation) {
  const Grade grade = expectation.expected.grade;
  return grade == Grade::TooLow || (grade == Grade::Low && is_published(expectation));
}

/// "all-reduce, 16 ranks: mine has 196 GB/s at 8 GiB, 0.41 of the median that others measured at
/// this size: too low; first to check: ...".
std::string low_text(const ReportPanel& panel, const SizeCurve& curve,
                     const CurveExpectation& expectation) {
  constexpr std::size_t kMostCauses = 2;
  const double rate_GBps = *expectation.request.measured_GBps;
  std::vector<std::string> causes;
  for (const CauseResult& each : expectation.expected.causes) {
    if (each.fits && causes.size() < kMostCauses) causes.emplace_back(each.cause->text);
  }
  return fmt::format("{}: {} has {} GB/s at {}, {}{}", panel.where(), panel.title(curve),
                     format_figure(rate_GBps), format_bytes(expectation.request.size),
                     verdict_text(expectation.expected, rate_GBps),
                     causes.empty() ? "" : "; first to check: " + join(causes, "; "));
}

/// Why a curve of a panel is suspect; nothing where it is not.
void add_suspect(const ReportPanel& panel, std::size_t number, std::vector<std::string>& found) {
  constexpr double kLowShare = 0.6;
  constexpr double kSuspect = 1.02;
  const SizeCurve& curve = panel.curves[number];
  const auto& expectation = panel.expectations[number];
  const bool low = expectation && is_low(*expectation);
  if (low) found.push_back(low_text(panel, curve, *expectation));
  const double share = best_share(curve).value_or(1);
  const bool is_compared = low || (expectation && is_published(*expectation));
  if (share <= kSuspect && (share >= kLowShare || is_compared)) return;
  found.push_back(fmt::format(
      "{}: {} reaches {} of its bound{}: {}", panel.where(), panel.title(curve),
      format_percent(share), curve.limit.empty() ? "" : fmt::format(" ({})", curve.limit),
      share < kLowShare ? "low" : "more than the links allow, so the value or the bound is wrong"));
}

std::string limit_of_all(const ReportSystem& system) {
  if (system.sets.empty() || !system.sets.back().best) return {};
  const topo::Bound& bound = system.sets.back().best->bound;
  const double allreduce = topo::collective_GBps(bound, "allreduce").value_or(0);
  const std::string more =
      allreduce > bound.bound_GBps
          ? fmt::format(", and {} for all-reduce {}", rate_text(allreduce), beyond_rings(bound))
          : "";
  return fmt::format(
      "all {} together reach {}{} ({}){}{}", system.sets.back().k,
      bound.assumptions.empty() ? "" : "about ", rate_text(bound.bound_GBps), bound.limit,
      bound.ring_GBps > 0 ? "" : fmt::format(", with no {} ring", gpu_link_text(bound.gpu_link)),
      more);
}

std::vector<std::string> late_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const Dataset& dataset : data.datasets) {
    LateCount late;
    for (const Record& record : dataset.records) late.add(record);
    const std::string text = late.text();
    if (!text.empty()) found.push_back(fmt::format("{}: {}", dataset.label, text));
  }
  return found;
}

}  // namespace

const SizePoint& highest_point(const SizeCurve& curve) {
  return *std::ranges::max_element(curve.points, {},
                                   [](const SizePoint& point) { return point.busbw_GBps.median; });
}

Trend trend_of(std::span<const double> rates_GBps) {
  constexpr double kFlat = 0.05;
  if (rates_GBps.size() < 2) return Trend::None;
  const auto [least, most] = std::ranges::minmax_element(rates_GBps);
  if (!exceeds(*most, *least, kFlat)) return Trend::Flat;
  bool rises = false;
  bool falls = false;
  for (std::size_t i = 1; i < rates_GBps.size(); ++i) {
    rises = rises || exceeds(rates_GBps[i], rates_GBps[i - 1], kFlat);
    falls = falls || exceeds(rates_GBps[i - 1], rates_GBps[i], kFlat);
  }
  if (!falls && exceeds(rates_GBps.back(), rates_GBps.front(), kFlat)) return Trend::Rising;
  if (!rises && exceeds(rates_GBps.front(), rates_GBps.back(), kFlat)) return Trend::Falling;
  return Trend::Mixed;
}

int leader(double first_GBps, double second_GBps) {
  constexpr double kLevel = 0.02;
  if (exceeds(first_GBps, second_GBps, kLevel)) return 1;
  return exceeds(second_GBps, first_GBps, kLevel) ? -1 : 0;
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

std::vector<Scaling> scalings_of(const ReportData& data) {
  std::vector<Scaling> scalings;
  for (auto first = data.panels.begin(); first != data.panels.end();) {
    const auto last = std::find_if(first, data.panels.end(), [&](const ReportPanel& panel) {
      return panel.collective != first->collective;
    });
    std::vector<const SizeCurve*> curves;
    for (; first != last; ++first) {
      for (const SizeCurve& curve : first->curves) curves.push_back(&curve);
    }
    Scaling scaling = scaling_of(curves, {}, 1, true);
    if (!scaling.curves.empty()) scalings.push_back(std::move(scaling));
  }
  return scalings;
}

std::vector<double> rates_of(const ScalingCurve& curve) {
  std::vector<double> rates;
  for (const auto& [ranks, point] : curve.points) {
    if (point != nullptr) rates.push_back(point->busbw_GBps.median);
  }
  return rates;
}

std::vector<std::string> fastest_findings(std::span<const ReportPanel> panels) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : panels) {
    if (panel.curves.size() < 2) continue;
    const std::vector<Bytes> common = common_sizes(panel);
    std::set<Bytes> last;  // of each; a ranking is fair where all end at one size
    for (const SizeCurve& curve : panel.curves) last.insert(curve.points.back().size);
    if (last.size() > 1) {
      found.push_back(fmt::format("{}, highest of each: {}{}", panel.where(), highest_text(panel),
                                  common.empty() ? "; no size is in all curves" : ""));
    }
    std::set<Bytes, std::greater<>> ends;
    if (!common.empty()) ends = {common.back(), common.front()};
    for (const Bytes size : ends) {
      found.push_back(
          fmt::format("{}, {}: {}", panel.where(), format_bytes(size), ranking_text(panel, size)));
      const Bytes widest = widest_of(panel, common);
      if (size != *ends.begin() || ends.contains(widest)) continue;
      found.back() += fmt::format("; widest apart at {}: {}", format_bytes(widest),
                                  ranking_text(panel, widest));
    }
  }
  return found;
}

std::vector<std::string> crossing_findings(std::span<const ReportPanel> panels) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : panels) {
    for (const LeadChange& crossing : crossings(panel.curves)) {
      found.push_back(fmt::format("{}: {} overtakes {} between {} and {}", panel.where(),
                                  panel.title(panel.curves[crossing.winner]),
                                  panel.title(panel.curves[crossing.loser]),
                                  format_bytes(crossing.after), format_bytes(crossing.until)));
    }
  }
  return found;
}

std::optional<double> best_share(const SizeCurve& curve) {
  const std::optional<double> bound_GBps = curve.points.back().bound_GBps;
  if (!bound_GBps) return std::nullopt;
  return highest_point(curve).busbw_GBps.median / *bound_GBps;
}

std::vector<std::string> share_findings(std::span<const ReportPanel> panels) {
  std::vector<std::string> found;
  for (const ReportPanel& panel : panels) {
    for (std::size_t i = 0; i < panel.curves.size(); ++i) add_suspect(panel, i, found);
  }
  return found;
}

std::vector<std::string> suspect_findings(const ReportData& data) {
  std::vector<std::string> found = share_findings(data.panels);
  append(found, late_findings(data));
  append(found, data.curve_findings);
  return found;
}

std::vector<std::string> trend_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const Scaling& scaling : scalings_of(data)) {
    for (const ScalingCurve& curve : scaling.curves) {
      const Trend trend = trend_of(rates_of(curve));
      if (trend == Trend::None) continue;
      found.push_back(fmt::format("{}: {} is {} with the number of ranks: {}",
                                  exchange_text(scaling), curve.title, name(trend),
                                  steps_text(curve)));
    }
  }
  return found;
}

std::vector<std::string> short_findings(const ReportData& data) {
  constexpr std::size_t kMost = 2;  // panels, and crossings of each
  constexpr std::size_t kMostSuspects = 4;
  std::vector<std::string> found = suspect_findings(data);
  found.resize(std::min(found.size(), kMostSuspects));
  // Of the first collective, and of its panels those with most curves.
  auto panels = filtered(data.panels, [&](const ReportPanel& panel) {
    return panel.collective == data.panels.front().collective && panel.curves.size() > 1;
  });
  std::ranges::stable_sort(panels, [](const ReportPanel& a, const ReportPanel& b) {
    return std::pair(a.curves.size(), a.ranks) > std::pair(b.curves.size(), b.ranks);
  });
  panels.resize(std::min(panels.size(), kMost));
  for (const ReportPanel& panel : panels) {
    found.push_back(fastest_findings({&panel, 1}).front());
    std::vector<std::string> changes = crossing_findings({&panel, 1});
    changes.resize(std::min(changes.size(), kMost));
    append(found, changes);
  }
  const std::vector<Scaling> scalings = scalings_of(data);
  for (const ReportSystem& system : data.systems) {
    std::vector<std::string> parts{limit_of_all(system), choice_text(system),
                                   curve_text(scalings, system.name)};
    std::erase(parts, "");
    if (parts.empty()) continue;
    found.push_back(fmt::format("{}: {}", doubted_name(system), join(parts, "; ")));
  }
  return found;
}

}  // namespace busbar::study
