// SPDX-License-Identifier: BSD-3-Clause
#include "format/row_notes.hpp"

#include <optional>

#include <fmt/format.h>

namespace busbar {
namespace {

std::string number_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string placement_of(const Record& record) { return record.in_place ? "in" : "out"; }

}  // namespace

void RowNotes::add(const Record& record) {
  if (record.period_us) {
    latencies_ +=
        fmt::format("# {:>12} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10}\n", record.size,
                    placement_of(record), number_or_dash(record.time_median_us),
                    number_or_dash(record.time_p99_us), number_or_dash(record.time_p999_us),
                    number_or_dash(record.period_us), number_or_dash(record.predicted_us));
  }
  if (record.loaded_time_us) {
    loads_ += fmt::format("# {:>12} {:>6} {:>10} {:>10} {:>10}\n", record.size,
                          placement_of(record), number_or_dash(record.loaded_time_us),
                          number_or_dash(record.operation_slowdown),
                          number_or_dash(record.load_slowdown));
  }
}

std::string RowNotes::text() const {
  std::string text;
  if (!latencies_.empty()) {
    text += fmt::format(
        "#\n# Drained, back to back (period), predicted, in us\n"
        "# {:>12} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10}\n{}#\n",
        "size", "place", "p50", "p99", "p99.9", "period", "predicted", latencies_);
  }
  if (!loads_.empty()) {
    text += fmt::format(
        "#\n# Beside the load: time in us, slowdown of operations and of the load\n"
        "# {:>12} {:>6} {:>10} {:>10} {:>10}\n{}#\n",
        "size", "place", "time", "operation", "load", loads_);
  }
  return text;
}

}  // namespace busbar
