// SPDX-License-Identifier: BSD-3-Clause
// Readers of nvidia-smi's answers and of the kernel's log: values have a text or a reason, and what
// was read is read back from its own lines.

#include "machine/host_window.hpp"
#include "tests/fuzz/check.hpp"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar::machine;  // NOLINT(google-build-using-namespace)
  const std::string_view text = fuzz::text_of(data, size);
  HostReading reading{.host = "h", .at = "1"};
  add_smi_query(text, smi_columns(), reading);
  add_nvlink_errors(text, reading);
  add_kernel_log(text, reading);
  try {
    add_nvlink_status(text, reading);
  } catch (const busbar::Error&) {
  }
  HostWindows windows;
  for (const FactLine& line : lines_of(reading)) windows.add(line);
  if (reading.values.empty()) return 0;
  require(windows.all().size() == 1);
  require(windows.all().front().last.values == reading.values);
  (void)faults_of(windows.all().front());
  return 0;
}
