// SPDX-License-Identifier: BSD-3-Clause
// Any file is a CSV of ours or a complaint; what a record read from it says is said again by its
// row.

#include "format/csv_writer.hpp"
#include "tests/fuzz/check.hpp"

using fuzz::MemoryFile;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  busbar::CsvFile read;
  try {
    read = busbar::read_csv(MemoryFile({reinterpret_cast<const char*>(data), size}).path());
  } catch (const busbar::Error&) {
    return 0;
  }
  // Outside the try: what was read must be accepted again. A file costs a thread, so two rows do.
  if (read.records.size() > 2) read.records.resize(2);
  for (const busbar::Record& record : read.records) {
    const std::string row = busbar::csv_row(record);
    const busbar::CsvFile again = busbar::read_csv(MemoryFile(busbar::csv_header() + row).path());
    if (again.records.size() != 1 || busbar::csv_row(again.records.front()) != row) std::abort();
  }
  return 0;
}
