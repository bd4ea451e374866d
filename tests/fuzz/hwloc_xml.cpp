// SPDX-License-Identifier: BSD-3-Clause
// XML files of hwloc: whatever the bytes, a tree or an Error comes out, and a tree can be walked.
// hwloc 2.9.0 itself crashes on well-formed files: null sets (hwloc_bitmap_or of a memory child
// without complete_nodeset, hwloc_bitmap_set of a NUMANode in a Machine without nodeset) and an
// assertion on bridges of unknown types; hwloc_input refuses those. What remains: it forgets to
// free an object (about 250 bytes) of a file that it refuses in the middle of it, seen with its
// built-in parser (HWLOC_LIBXML=0) only.
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
