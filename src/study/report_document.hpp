// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/document.hpp"
#include "study/report_data.hpp"

namespace busbar {

/// The report in words, tables and pictures; the same data give the same document.
[[nodiscard]] Document report_document(const ReportData& data);

}  // namespace busbar
