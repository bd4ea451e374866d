// SPDX-License-Identifier: BSD-3-Clause
// What read_log accepts becomes records without a negative or endless value; it throws Error or
// nothing.
#include <cmath>

#include "study/import/log_reader.hpp"
#include "tests/fuzz/check.hpp"

namespace {

using fuzz::require;

void check(const busbar::study::ImportedRows& rows) {
  for (const busbar::Record& record : rows.records) {
    require(record.ranks > 0 && !record.collective.empty());
    if (record.busbw_GBps) require(std::isfinite(*record.busbw_GBps) && *record.busbw_GBps >= 0);
  }
}

void import(std::string_view text, const busbar::study::LogReading& reading) {
  try {
    const std::vector<busbar::study::LogFile> logs{busbar::study::read_log(text, "fuzz", reading)};
    check(busbar::study::records_of(logs, reading));
  } catch (const busbar::Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  // Once with all that a user may tell, and once with nothing: then the rows tell the collective.
  import(text,
         {.skip_bad_lines = true, .collective = "all_reduce", .ranks = 2, .size = busbar::kMiB});
  import(text, {.skip_bad_lines = true});
  return 0;
}
