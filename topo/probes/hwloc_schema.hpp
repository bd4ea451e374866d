// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace busbar::topo {

/// Where an object of hwloc may be.
enum class HwlocFamily { Normal, Memory, Io, Unwanted };
inline constexpr std::array<std::pair<std::string_view, HwlocFamily>, 24> kHwlocTypes{
    {{"Machine", HwlocFamily::Normal},  {"Package", HwlocFamily::Normal},
     {"Socket", HwlocFamily::Normal},   {"Die", HwlocFamily::Normal},
     {"Group", HwlocFamily::Normal},    {"Core", HwlocFamily::Normal},
     {"PU", HwlocFamily::Normal},       {"Cache", HwlocFamily::Normal},
     {"L1Cache", HwlocFamily::Normal},  {"L2Cache", HwlocFamily::Normal},
     {"L3Cache", HwlocFamily::Normal},  {"L4Cache", HwlocFamily::Normal},
     {"L5Cache", HwlocFamily::Normal},  {"L1iCache", HwlocFamily::Normal},
     {"L2iCache", HwlocFamily::Normal}, {"L3iCache", HwlocFamily::Normal},
     {"NUMANode", HwlocFamily::Memory}, {"Node", HwlocFamily::Memory},
     {"MemCache", HwlocFamily::Memory}, {"Bridge", HwlocFamily::Io},
     {"PCIDev", HwlocFamily::Io},       {"OSDev", HwlocFamily::Io},
     {"Misc", HwlocFamily::Unwanted},   {"System", HwlocFamily::Unwanted}}};
/// What every object but devices must have, each within that of the object around.
inline constexpr std::array<const char*, 4> kHwlocSets{"cpuset", "complete_cpuset", "nodeset",
                                                       "complete_nodeset"};
/// What hwloc is given of an object; the rest is left out.
inline constexpr std::array<std::string_view, 23> kHwlocAttributes{
    "type",           "os_index",
    "cpuset",         "complete_cpuset",
    "nodeset",        "complete_nodeset",
    "gp_index",       "name",
    "subtype",        "local_memory",
    "depth",          "cache_size",
    "cache_linesize", "cache_associativity",
    "cache_type",     "kind",
    "subkind",        "bridge_type",
    "bridge_pci",     "pci_busid",
    "pci_type",       "pci_link_speed",
    "osdev_type"};
/// Of the machine only: what the job that wrote the file was allowed to use.
inline constexpr std::array<const char*, 2> kHwlocAllowed{"allowed_cpuset", "allowed_nodeset"};
/// Attributes that are whole numbers; os_index and depth fit an int.
inline constexpr std::array<const char*, 4> kHwlocNumbers{"local_memory", "cache_size",
                                                          "cache_linesize", "cache_type"};
inline constexpr std::array<const char*, 2> kHwlocSmallNumbers{"os_index", "depth"};

}  // namespace busbar::topo
