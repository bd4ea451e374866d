// SPDX-License-Identifier: BSD-3-Clause
// What parse_amd_topology accepts is square and symmetric, and parse_amd_gpus numbers its GPUs;
// both throw Error or nothing.
#include "topo/probes/amd_smi.hpp"

#include "tests/fuzz/check.hpp"

namespace {

using fuzz::require;

void check(const busbar::topo::SmiMatrix& matrix) {
  const std::size_t gpus = matrix.gpus.size();
  require(gpus > 0 && matrix.bus_ids.size() == gpus);
  require(matrix.cpu_affinity.size() == gpus && matrix.numa_affinity.size() == gpus);
  fuzz::require_symmetric(matrix.cells, gpus);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::attempt([&] { check(busbar::topo::parse_amd_topology(text, "fuzz").matrix.value()); });
  fuzz::attempt([&] {
    int index = 0;
    for (const auto& gpu : busbar::topo::parse_amd_gpus(text, "fuzz"))
      require(gpu.index == index++);
  });
  return 0;
}
