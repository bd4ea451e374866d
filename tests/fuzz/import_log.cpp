// SPDX-License-Identifier: BSD-3-Clause
// What read_log accepts becomes records without a negative or endless value; it throws Error or
// nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const busbar::study::ImportedRows& rows) {
  for (const busbar::Record& record : rows.records) {
    require(record.ranks > 0 && !record.collective.empty());
    if (record.busbw_GBps) require(std::isfinite(*record.busbw_GBps) && *record.busbw_GBps >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::vector<busbar::study::LogFile> logs{
        busbar::study::read_log(text, "fuzz", {.skip_bad_lines = true})};
    check(busbar::study::records_of(logs, {.collective = "all_reduce", .ranks = 2}));
  } catch (const busbar::Error&) {
    return 0;
  }
  return 0;
}
