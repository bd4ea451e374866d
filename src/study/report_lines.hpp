// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "study/report_data.hpp"

namespace busbar {

/// The curves of the report's CSVs, by collective and ranks. Out of place where a system has both
/// placements; one rank has no bus bandwidth and no panel.
[[nodiscard]] std::vector<ReportPanel> panels_of(const ReportData& data);

/// One rate per size: the median where a curve has several points there.
[[nodiscard]] std::vector<SizedRate> median_rates(const Curve& curve);

}  // namespace busbar
