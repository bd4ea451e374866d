// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::topo::sample {

/// A server as lstopo writes it: NUMA nodes of equally many cores of one processor each, and below
/// each of them equally many GPUs, at 0000:10:00.0, 0000:11:00.0, ... in the order of the nodes.
struct GpuServer {
  int numa_nodes = 2;
  int cores = 48;  ///< of a NUMA node
  int gpus = 4;    ///< near a NUMA node

  [[nodiscard]] std::string hwloc_xml() const {
    std::string inside;
    for (int node = 0; node < numa_nodes; ++node) inside += package(node);
    return fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>)"
        "\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
        R"(<object type="Machine" os_index="0" cpuset="{0}" complete_cpuset="{0}" )"
        R"(allowed_cpuset="{0}" nodeset="{1}" complete_nodeset="{1}" allowed_nodeset="{1}" )"
        R"(gp_index="1">{2}</object></topology>)",
        set(0, numa_nodes * cores), set(0, numa_nodes), inside);
  }

  [[nodiscard]] static std::string bus(int gpu) {
    return fmt::format("0000:{:02x}:00.0", 16 + gpu);
  }

 private:
  /// hwloc's form: words of 32 bits, the highest first.
  [[nodiscard]] static std::string set(int first, int count) {
    std::string text;
    for (int word = (first + count - 1) / 32; word >= 0; --word) {
      unsigned bits = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const int number = 32 * word + bit;
        if (number >= first && number < first + count) bits |= 1U << static_cast<unsigned>(bit);
      }
      text += fmt::format("{}0x{:08x}", text.empty() ? "" : ",", bits);
    }
    return text;
  }
  [[nodiscard]] static std::string object(const char* type, int os_index, int number, int first,
                                          int count, int node, const std::string& inside) {
    return fmt::format(
        R"(<object type="{0}" os_index="{1}" cpuset="{2}" complete_cpuset="{2}" nodeset="{3}" )"
        R"(complete_nodeset="{3}" gp_index="{4}">{5}</object>)",
        type, os_index, set(first, count), set(node, 1), number, inside);
  }
  [[nodiscard]] std::string package(int node) const {
    const int first = node * cores;
    std::string inside = object("NUMANode", node, 100 + node, first, cores, node, "");
    for (int core = first; core < first + cores; ++core) {
      inside += object("Core", core, 1000 + core, core, 1, node,
                       object("PU", core, 2000 + core, core, 1, node, ""));
    }
    for (int gpu = node * gpus; gpu < (node + 1) * gpus; ++gpu) inside += host_bridge(gpu);
    return object("Package", node, 10 + node, first, cores, node, inside);
  }
  [[nodiscard]] static std::string host_bridge(int gpu) {
    return fmt::format(
        R"(<object type="Bridge" gp_index="{0}" bridge_type="0-1" depth="0" )"
        R"(bridge_pci="0000:[{1:02x}-{1:02x}]"><object type="PCIDev" gp_index="{2}" )"
        R"(pci_busid="{3}" pci_type="0302 [10de:2330] [0000:0000] a1" )"
        R"(pci_link_speed="63.015385"/></object>)",
        3000 + gpu, 16 + gpu, 4000 + gpu, bus(gpu));
  }
};

/// Lets hwloc take a recorded machine for this one while it is there. Only of a machine whose
/// processors exist here can be asked to bind: `bindable`.
class RecordedMachine {
 public:
  explicit RecordedMachine(const std::string& hwloc_xml, bool bindable = false) {
    folder_.write("machine.xml", hwloc_xml);
    setenv("HWLOC_XMLFILE", folder_.path("machine.xml").c_str(), 1);
    if (bindable) setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  RecordedMachine(const RecordedMachine&) = delete;
  RecordedMachine& operator=(const RecordedMachine&) = delete;
  ~RecordedMachine() {
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_THISSYSTEM");
  }

 private:
  test::TemporaryFolder folder_{};
};

}  // namespace busbar::topo::sample
