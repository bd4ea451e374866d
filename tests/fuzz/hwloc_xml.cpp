// SPDX-License-Identifier: BSD-3-Clause
// XML files of hwloc: whatever the bytes, a tree or an Error comes out, and a tree can be walked.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "topo/probes/hwloc_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar::topo;  // NOLINT(google-build-using-namespace)
  try {
    const HostTree tree = parse_hwloc_xml({data, data + size}, "fuzz");
    for (int gpu : all_of_kind(tree, PciKind::Gpu)) static_cast<void>(pci_path(tree, 0, gpu));
  } catch (const busbar::Error&) {
    return 0;
  }
  return 0;
}
