// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "study/report/data.hpp"

namespace busbar::study {

/// How a rate goes with the number of ranks.
enum class Trend {
  None,     ///< fewer than two numbers of ranks
  Flat,     ///< the greatest and the least differ by 5 % of the greatest or less
  Rising,   ///< no step falls by more than that, and the last is the greatest by more than that
  Falling,  ///< the other way round
  Mixed     ///< up and down
};

constexpr auto enum_names(Trend /*unused*/) {
  return std::array{Named{Trend::None, ""}, Named{Trend::Flat, "flat"},
                    Named{Trend::Rising, "rising"}, Named{Trend::Falling, "falling"},
                    Named{Trend::Mixed, "mixed"}};
}

/// The trend of rates in GB/s, in the order of their numbers of ranks.
[[nodiscard]] Trend trend_of(std::span<const double> rates_GBps);

/// Where the lead passes from one of several curves to another: beyond `after`, at `until` at the
/// latest.
struct LeadChange {
  Bytes after = 0;        ///< the last size at which the old leader leads
  Bytes until = 0;        ///< the first at which the new one does
  std::size_t loser = 0;  ///< numbers of the curves
  std::size_t winner = 0;
};

/// -1, 0 or 1: the second leads; they are level, which is within 2 % of the greater; the first
/// leads.
[[nodiscard]] int leader(double first_GBps, double second_GBps);

/// All changes of the lead of all curves, at sizes that the leader and another curve have; nothing
/// is interpolated. Each curve is by rising size, each size once.
[[nodiscard]] std::vector<LeadChange> crossings(std::span<const SizeCurve> curves);

/// @name Findings of the curves, one sentence each
/// @{
/// Who leads at the smallest and the largest size that all curves of a panel have.
[[nodiscard]] std::vector<std::string> fastest_findings(std::span<const ReportPanel> panels);
/// Between which sizes the lead passes from one curve of a panel to another.
[[nodiscard]] std::vector<std::string> crossing_findings(std::span<const ReportPanel> panels);
/// Flat, rising or falling with the number of ranks, at the largest size that all of them have.
[[nodiscard]] std::vector<std::string> trend_findings(const ReportData& data);
/// Curves that are below what others published, or whose highest rate is below 60 % of their bound
/// (unless others published as much), or above 102 %.
[[nodiscard]] std::vector<std::string> share_findings(std::span<const ReportPanel> panels);
/// Those, who is last to arrive, and sizes at which a curve falls.
[[nodiscard]] std::vector<std::string> suspect_findings(const ReportData& data);
/// A few sentences: on what is suspect, on who leads, and one on each system.
[[nodiscard]] std::vector<std::string> short_findings(const ReportData& data);
/// @}

/// The point of the highest rate.
[[nodiscard]] const SizePoint& highest_point(const SizeCurve& curve);
/// The highest rate over the bound; empty where no bound is known.
[[nodiscard]] std::optional<double> best_share(const SizeCurve& curve);

/// Scaling of each collective at the largest size that every curve of it has; none where none has.
/// The points are those of the data.
[[nodiscard]] std::vector<Scaling> scalings_of(const ReportData& data);
/// The rates in GB/s that there are.
[[nodiscard]] std::vector<double> rates_of(const ScalingCurve& curve);

/// @name Findings of the topologies
/// @{
/// The highest bound for each number of GPUs, by its best set.
[[nodiscard]] std::vector<std::string> topology_findings(const ReportData& data);
/// What limits the first GPUs of each system; numbers of GPUs with one limit together.
[[nodiscard]] std::vector<std::string> limit_findings(const ReportSystem& system);
/// Which sets have much less bandwidth than the best of their size (kAvoid or more).
[[nodiscard]] std::vector<std::string> avoid_findings(const ReportSystem& system);
/// @}

/// "GPUs", or "processors" where a system has none.
[[nodiscard]] std::string device_noun(const ReportSystem& system);

/// The best set has at least this many times the bandwidth of a set to avoid.
inline constexpr double kAvoid = 1.25;

/// What makes a comparison unsafe: different versions of libraries, measured beside simulated,
/// different cadence; one sentence each.
[[nodiscard]] std::vector<std::string> comparison_warnings(const ReportData& data);

}  // namespace busbar::study
