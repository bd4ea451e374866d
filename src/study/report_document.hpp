// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/document.hpp"
#include "study/report_data.hpp"

namespace busbar {

/// The report as text, tables and charts, which are not drawn yet; the same data give the same
/// document.
[[nodiscard]] Document report_document(const ReportData& data);

}  // namespace busbar
