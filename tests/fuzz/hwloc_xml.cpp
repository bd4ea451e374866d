// SPDX-License-Identifier: BSD-3-Clause
// XML files of hwloc: whatever the bytes, a tree or an Error comes out, and a tree can be walked.
// hwloc 2.9.0 itself crashes on well-formed files (null sets, assertions): that happens in the
// child that parse_hwloc_xml tries the import in. hwloc forgets to free an object (about 1 KB) of a
// file that it refuses in the middle of it, which is no leak of ours.
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "topo/probes/host_tree.hpp"

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:hwloc_alloc_setup_object\nleak:libhwloc.so\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace busbar::topo;  // NOLINT(google-build-using-namespace)
  try {
    const HostTree tree = parse_hwloc_xml({data, data + size}, "fuzz");
    for (const GpuFacts& gpu : tree.gpus) static_cast<void>(find_pci(tree, gpu.bus_id));
  } catch (const busbar::Error&) {
    return 0;
  }
  return 0;
}
