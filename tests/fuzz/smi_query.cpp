// SPDX-License-Identifier: BSD-3-Clause
// What parse_smi_query accepts has different indices; it throws Error or nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "base/error.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::set<int> seen;
    for (const auto& gpu : busbar::topo::parse_smi_query(text, "fuzz"))
      require(gpu.index >= 0 && seen.insert(gpu.index).second);
  } catch (const busbar::Error& error) {
    require(std::string_view(error.what()).substr(0, 5) == "fuzz:");
  }
  return 0;
}
