// SPDX-License-Identifier: BSD-3-Clause
// What the parser of nvlink -s accepts has finite speeds; it throws Error or nothing.
#include <cmath>

#include "tests/fuzz/check.hpp"
#include "topo/probes/nvidia_smi.hpp"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] {
    for (const auto& gpu : busbar::topo::parse_nvlink_status(text, "fuzz"))
      for (const double GBps : gpu.links) require(std::isfinite(GBps) && GBps >= 0);
  });
  return 0;
}
