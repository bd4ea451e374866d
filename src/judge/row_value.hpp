// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "judge/spec/specification.hpp"
#include "model/record.hpp"

namespace busbar::judge {

/// A row's value of a metric: GB/s or us; or why it has none that can be judged.
struct RowValue {
  std::optional<double> value{};
  std::string error{};
};

/// Bandwidth by another statistic than the median is that of the time's statistic: bytes over the
/// p99 time, not the p99 of bandwidths.
[[nodiscard]] RowValue value_of(const Record& record, Metric metric, Statistic statistic);

/// True for a row that has the flag among its flags.
[[nodiscard]] bool has_row_flag(const Record& record, std::string_view flag);

}  // namespace busbar::judge
