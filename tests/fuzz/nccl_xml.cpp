// SPDX-License-Identifier: BSD-3-Clause
// NCCL topology files: whatever the bytes, a tree or an Error comes out, and a tree can be walked.
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "topo/probes/host_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar::topo;  // NOLINT(google-build-using-namespace)
  try {
    const HostTree tree = parse_nccl_xml({data, data + size}, "fuzz");
    for (const GpuFacts& gpu : tree.gpus) static_cast<void>(find_pci(tree, gpu.bus_id));
  } catch (const busbar::Error&) {
    return 0;
  }
  return 0;
}
