// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "format/document.hpp"
#include "study/report/data.hpp"

namespace busbar::study {

/// The report as text, tables and charts, which are not drawn yet; the same data give the same
/// document.
[[nodiscard]] Document report_document(const ReportData& data);

/// The section that compares what the topologies allow; none without a topology.
[[nodiscard]] std::vector<Section> topology_sections(const ReportData& data,
                                                     const Palette& palette);

/// A section for each system: its parts and links, and what its sets of devices can reach.
[[nodiscard]] std::vector<Section> system_sections(const ReportData& data);

}  // namespace busbar::study
