// SPDX-License-Identifier: BSD-3-Clause
// What the parsers of nvlink -s and -R accept has finite speeds and PCI addresses; they throw Error
// or nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check.hpp"
#include "topo/probes/nvidia_smi.hpp"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] {
    for (const auto& gpu : busbar::topo::parse_nvlink_status(text, "fuzz"))
      for (const auto& link : gpu.links) require(std::isfinite(link.GBps) && link.GBps >= 0);
  });
  fuzz::attempt([&] {
    for (const auto& gpu : busbar::topo::parse_nvlink_remotes(text, "fuzz"))
      for (const auto& link : gpu.links) require(!link.bus_id.empty());
  });
  return 0;
}
