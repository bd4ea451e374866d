// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "study/report_data.hpp"

namespace busbar {

/// The curves of the report's CSVs, by collective and ranks. Out of place where a system has both
/// placements; one rank has no bus bandwidth and no panel.
[[nodiscard]] std::vector<ReportPanel> panels_of(const ReportData& data);

/// By what an all-reduce exceeds the bound of rings.
[[nodiscard]] std::string_view beyond_rings(const topo::Bound& bound);

/// One rate per size: the median where a curve has several points there.
[[nodiscard]] std::vector<SizedRate> median_rates(const Curve& curve);

}  // namespace busbar
