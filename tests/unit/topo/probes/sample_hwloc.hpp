// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

#include <fmt/format.h>

#include "tests/unit/support/temporary_folder.hpp"

/// A small machine as lstopo writes it: two packages of one processor each (0 and 1), and
/// - near the first a root port, a switch and below it GPUs 07 and 08, a second switch in the first
///   with GPU 0b and NIC 0c, and a VGA card of another vendor at a root port of its own;
/// - near the second two root ports under one host bridge with GPUs 85 and 86, and an NVSwitch.
namespace busbar::topo::sample {

/// A number of its own for every bus and device.
inline int number_of_bus(const std::string& bus_id) {
  return 1000 + 32 * std::stoi(bus_id.substr(5), nullptr, 16) +
         std::stoi(bus_id.substr(8), nullptr, 16);
}

inline std::string device(const std::string& bus_id, const std::string& ids,
                          const std::string& inside = {}, const std::string& more = {}) {
  return fmt::format(
      R"(<object type="PCIDev" gp_index="{}" {} pci_busid="{}" pci_type="{} [0000:0000] a1" )"
      R"(pci_link_speed="15.753846">{}</object>)",
      number_of_bus(bus_id), more, bus_id, ids, inside);
}

inline std::string gpu(const std::string& bus_id, int index) {
  const std::string nvml = fmt::format(
      R"(<object type="OSDev" gp_index="{}" name="nvml{}" osdev_type="5">)"
      R"(<info name="GPUModel" value="Tesla V9"/><info name="NVIDIAUUID" value="GPU-{}"/></object>)",
      500 + index, index, index);
  return device(bus_id, "0302 [10de:1db8]", nvml);
}

/// A port or switch with the buses below it.
inline std::string port(const std::string& bus_id, const std::string& ids, int depth,
                        const std::string& below, const std::string& inside) {
  return fmt::format(
      R"(<object type="Bridge" gp_index="{}" bridge_type="1-1" depth="{}" bridge_pci="0000:[{}]" )"
      R"(pci_busid="{}" pci_type="0604 [{}] [0000:0000] 04" pci_link_speed="15.753846">{}</object>)",
      10000 + number_of_bus(bus_id), depth, below, bus_id, ids, inside);
}

inline std::string host_bridge(const std::string& below, const std::string& inside) {
  return fmt::format(
      R"(<object type="Bridge" gp_index="{}" bridge_type="0-1" depth="0" bridge_pci="0000:[{}]">)"
      "{}</object>",
      20000 + std::stoi(below, nullptr, 16), below, inside);
}

/// A set of numbers in hwloc's form: words of 32 bits, the highest first.
inline std::string bit_set(int first, int count) {
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

/// A package that is one NUMA node, of cores with one processor each.
inline std::string package(int index, const std::string& inside, int first, int cores = 1) {
  const auto one = [&](const char* type, int number, int os_index, int processor, int processors,
                       const std::string& within) {
    return fmt::format(
        R"(<object type="{0}" os_index="{1}" cpuset="{2}" complete_cpuset="{2}" nodeset="{3}" )"
        R"(complete_nodeset="{3}" gp_index="{4}" local_memory="4096">{5}</object>)",
        type, os_index, bit_set(processor, processors), bit_set(index, 1), number, within);
  };
  std::string parts = R"(<info name="CPUVendor" value="GenuineIntel"/>)"
                      R"(<info name="CPUModelNumber" value="85"/>)"
                      R"(<info name="CPUModel" value="Xeon 9"/>)" +
                      one("NUMANode", 20 + index, index, first, cores, "");
  for (int core = first; core < first + cores; ++core) {
    parts += one("Core", 30000 + core, core, core, 1, one("PU", 40000 + core, core, core, 1, ""));
  }
  return one("Package", 10 + index, index, first, cores, parts + inside);
}

struct MachineShape {
  std::string after{};
  std::string product = "Test Server";
  int processors = 2;
  int nodes = 2;
};

inline std::string machine(const std::string& inside, const MachineShape& shape = {}) {
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>)"
      "\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
      R"(<object type="Machine" os_index="0" cpuset="{0}" complete_cpuset="{0}" )"
      R"(allowed_cpuset="{0}" nodeset="{1}" complete_nodeset="{1}" allowed_nodeset="{1}" )"
      R"(gp_index="1"><info name="DMIProductName" value="{2}"/>)"
      "<info name=\"Architecture\" value=\"x86_64\"/>{3}</object>\n{4}</topology>\n",
      bit_set(0, shape.processors), bit_set(0, shape.nodes), shape.product, inside, shape.after);
}

/// GPUs 07 and 08 joined by NVLink, GPUs 85 and 86 by the switch, in MB/s; the diagonal is nonsense
/// as hwloc writes it on some machines.
inline std::string nvlink_distances() {
  const auto part = [](const char* name, const std::string& content) {
    return fmt::format(R"(<{0} length="{1}">{2}</{0}>)", name, content.size(), content);
  };
  return R"(<distances2hetero nbobjs="5" kind="25" name="NVLinkBandwidth">)" +
         part("indexes", "OSDev:500 OSDev:501 OSDev:503 OSDev:504 PCIDev:99 ") +
         part("u64values", "1000000 50000 0 0 0 50000 1000000 0 0 0 ") +
         part("u64values", "0 0 1000000 0 150000 0 0 0 1000000 150000 ") +
         part("u64values", "0 0 150000 150000 1000000 ") + "</distances2hetero>\n";
}

/// The whole machine.
inline std::string hwloc_xml() {
  const std::string inner = port(
      "0000:06:02.0", "10b5:9781", 3, "09-0c",
      port("0000:09:00.0", "10b5:9781", 4, "0a-0c",
           port("0000:0a:00.0", "10b5:9781", 5, "0b-0b", gpu("0000:0b:00.0", 2)) +
               port("0000:0a:01.0", "10b5:9781", 5, "0c-0c",
                    device(
                        "0000:0c:00.0", "0207 [15b3:1019]",
                        R"(<object type="OSDev" gp_index="600" name="ib0" osdev_type="2"/>)"
                        R"(<object type="OSDev" gp_index="601" name="mlx5_0" osdev_type="3"/>)"))));
  const std::string near_first =
      host_bridge(
          "04-0c",
          port("0000:04:00.0", "8086:2030", 1, "05-0c",
               port("0000:05:00.0", "10b5:9781", 2, "06-0c",
                    port("0000:06:00.0", "10b5:9781", 3, "07-07", gpu("0000:07:00.0", 0)) +
                        port("0000:06:01.0", "10b5:9781", 3, "08-08", gpu("0000:08:00.0", 1)) +
                        inner))) +
      host_bridge("20-21", port("0000:20:00.0", "8086:2031", 1, "21-21",
                                device("0000:21:00.0", "0300 [1a03:2000]")));
  const std::string near_second = host_bridge(
      "84-87", port("0000:84:00.0", "8086:2030", 1, "85-85", gpu("0000:85:00.0", 3)) +
                   port("0000:84:02.0", "8086:2032", 1, "86-86", gpu("0000:86:00.0", 4)) +
                   port("0000:84:03.0", "8086:2033", 1, "87-87",
                        R"(<object type="PCIDev" gp_index="99" subtype="NVSwitch" )"
                        R"(pci_busid="0000:87:00.0" pci_type="0000 [0000:0000] [0000:0000] 00" )"
                        R"(pci_link_speed="1.0"/>)"));
  return machine(package(0, near_first, 0) + package(1, near_second, 1),
                 {.after = nvlink_distances()});
}

/// A server: NUMA nodes of equally many cores of one processor each, and below each of them equally
/// many GPUs, at 0000:10:00.0, 0000:11:00.0, ... in the order of the nodes.
struct GpuServer {
  int numa_nodes = 2;
  int cores = 48;  ///< of a NUMA node
  int gpus = 4;    ///< near a NUMA node

  [[nodiscard]] std::string hwloc_xml() const {
    std::string inside;
    for (int node = 0; node < numa_nodes; ++node) {
      std::string bridges;
      for (int at = node * gpus; at < (node + 1) * gpus; ++at) {
        bridges += host_bridge(fmt::format("{0:02x}-{0:02x}", 16 + at), gpu(bus(at), at));
      }
      inside += package(node, bridges, node * cores, cores);
    }
    return machine(inside, {.processors = numa_nodes * cores, .nodes = numa_nodes});
  }

  [[nodiscard]] static std::string bus(int gpu) {
    return fmt::format("0000:{:02x}:00.0", 16 + gpu);
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
  busbar::test::TemporaryFolder folder_{};
};

}  // namespace busbar::topo::sample
