// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "study/report_data.hpp"
#include "study/report_trend.hpp"

namespace busbar {

/// @name What the curves tell, one sentence each
/// @{
/// Who leads at the smallest and the largest size that all lines of a panel have.
[[nodiscard]] std::vector<std::string> fastest_findings(const ReportData& data);
/// Between which sizes the lead passes from one line of a panel to another.
[[nodiscard]] std::vector<std::string> crossing_findings(const ReportData& data);
/// Flat, rising or falling with the number of ranks, at the largest size that all of them have.
[[nodiscard]] std::vector<std::string> trend_findings(const ReportData& data);
/// Lines whose highest rate is a share of their bound that is low or suspect.
[[nodiscard]] std::vector<std::string> share_findings(const ReportData& data);
/// A few sentences: one on who leads, one on each system.
[[nodiscard]] std::vector<std::string> short_findings(const ReportData& data);
/// @}

/// The highest rate over the bound; empty where no bound is known.
[[nodiscard]] std::optional<double> best_share(const ReportLine& line);
inline constexpr double kLowShare = 0.6;       ///< below it a system is worse than it should be
inline constexpr double kSuspectShare = 1.02;  ///< above it the bound does not hold

/// @name What the topologies tell
/// @{
/// Who can carry most for each number of GPUs, by its best set.
[[nodiscard]] std::vector<std::string> topology_findings(const ReportData& data);
/// What limits the first GPUs of each system; numbers of GPUs with one limit together.
[[nodiscard]] std::vector<std::string> limit_findings(const ReportSystem& system);
/// Which sets carry much less than the best of their size (kAvoid or more).
[[nodiscard]] std::vector<std::string> avoid_findings(const ReportSystem& system);
/// @}

/// "GPUs", or "processors" where a system has none.
[[nodiscard]] std::string device_noun(const ReportSystem& system);

/// The best set carries so many times what a set to be avoided does.
inline constexpr double kAvoid = 1.25;

/// What makes a comparison unsafe: different versions of libraries, measured beside simulated,
/// different cadence; one sentence each.
[[nodiscard]] std::vector<std::string> comparison_warnings(const ReportData& data);
/// Names, in order.
[[nodiscard]] std::vector<std::string> systems_without_topology(const ReportData& data);

/// The rates of one curve over numbers of ranks at one size: a row of the scaling table.
struct ScalingRow {
  std::string label{};           ///< with "(simulated)"
  std::string label_in_chart{};  ///< without
  std::string system{};
  std::size_t number = 0;  ///< of the line, as in ReportLine
  bool simulated = false;
  std::vector<int> ranks{};
  std::vector<double> rates_GBps{};
  Trend trend = Trend::None;
};

/// Scaling of one collective at the largest size that every line of it has (0 where none has).
struct Scaling {
  std::string collective{};
  Bytes size = 0;
  std::vector<ScalingRow> rows{};
};
[[nodiscard]] std::vector<Scaling> scalings_of(const ReportData& data);

/// Sizes that all lines of a panel have, rising.
[[nodiscard]] std::vector<Bytes> sizes_of_all(const ReportPanel& panel);

}  // namespace busbar
