// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_query accepts has different indices; it throws Error or nothing.

#include "tests/fuzz/check.hpp"
#include "topo/probes/nvidia_smi.hpp"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] {
    std::set<int> seen;
    for (const auto& gpu : busbar::topo::parse_smi_query(text, "fuzz"))
      require(gpu.index >= 0 && seen.insert(gpu.index).second);
  });
  return 0;
}
