// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/series_style.hpp"
#include "study/report_data.hpp"

namespace busbar {

/// What all sections of a report draw from.
struct ReportContext {
  const ReportData& data;
  SeriesStyles styles;
};

/// @name Sections in the order of the page; empty where there is nothing to tell
/// @{
[[nodiscard]] std::vector<Section> summary_sections(const ReportContext& context);
[[nodiscard]] std::vector<Section> topology_sections(const ReportContext& context);
[[nodiscard]] std::vector<Section> curve_sections(const ReportContext& context);
[[nodiscard]] std::vector<Section> scaling_sections(const ReportContext& context);
[[nodiscard]] std::vector<Section> system_sections(const ReportContext& context);
[[nodiscard]] std::vector<Section> run_sections(const ReportContext& context);
/// @}

}  // namespace busbar
