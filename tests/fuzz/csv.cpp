// SPDX-License-Identifier: BSD-3-Clause
// Any file is a CSV of ours or a complaint; what a record read from it says is said again by its
// row.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "format/csv_reader.hpp"
#include "format/csv_writer.hpp"

namespace {

/// A file in memory, which the reader opens by its name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : number_(::memfd_create("fuzz", 0)) {
    if (number_ < 0 ||
        ::write(number_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace

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
