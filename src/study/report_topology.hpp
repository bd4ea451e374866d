// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "study/report_data.hpp"

namespace busbar {

/// @name Findings of the topologies
/// @{
/// The highest bound for each number of GPUs, by its best set.
[[nodiscard]] std::vector<std::string> topology_findings(const ReportData& data);
/// What limits the first GPUs of each system; numbers of GPUs with one limit together.
[[nodiscard]] std::vector<std::string> limit_findings(const ReportSystem& system);
/// Which sets have much less bandwidth than the best of their size (kAvoid or more).
[[nodiscard]] std::vector<std::string> avoid_findings(const ReportSystem& system);
/// @}

/// What a dataset's values are: "measured medians", "imported means".
[[nodiscard]] std::string origin_text(const Dataset& dataset);
/// "GPUs", or "processors" where a system has none.
[[nodiscard]] std::string device_noun(const ReportSystem& system);

/// The best set has so many times the bandwidth of a set to avoid.
inline constexpr double kAvoid = 1.25;

/// What makes a comparison unsafe: different versions of libraries, measured beside simulated,
/// different cadence; one sentence each.
[[nodiscard]] std::vector<std::string> comparison_warnings(const ReportData& data);

}  // namespace busbar
