// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/unit/topo/probes/refused.hpp"
#include "tests/unit/topo/probes/sample_hwloc.hpp"

namespace busbar::topo {
namespace {

std::string refused(const std::string& text) {
  return refusal([&] { static_cast<void>(parse_hwloc_xml(text, "f.xml")); });
}

HostTree sample_tree() { return parse_hwloc_xml(sample::hwloc_xml(), "f.xml"); }

std::string path(const HostTree& tree, const char* one, const char* other) {
  return std::string(name(pci_path(tree, find_pci(tree, one), find_pci(tree, other))));
}

const PciObject& at(const HostTree& tree, const char* bus_id) {
  return tree.pci.at(static_cast<std::size_t>(find_pci(tree, bus_id)));
}

TEST(HwlocXml, ReadsPackagesAndNodes) {
  const HostTree tree = sample_tree();
  EXPECT_EQ(tree.name, "Test Server");
  EXPECT_EQ(tree.origin, "f.xml");
  EXPECT_TRUE(tree.packages_known);
  ASSERT_EQ(tree.packages.size(), 2U);
  EXPECT_EQ(tree.packages[1].index, 1);
  EXPECT_EQ(tree.packages[1].vendor, "intel");
  EXPECT_EQ(tree.packages[1].model, "Xeon 9");
  EXPECT_EQ(tree.packages[1].family, 6);
  EXPECT_EQ(tree.packages[1].model_number, 85);
  EXPECT_EQ(tree.packages[1].arch, "x86_64");
  ASSERT_EQ(tree.numa.size(), 2U);
  EXPECT_EQ(tree.numa[1].package, 1);
  EXPECT_EQ(tree.numa[1].cpus, "1");
  EXPECT_EQ(tree.numa[1].memory, 4096U);
  EXPECT_FALSE(tree.numa[1].gpu_memory);
}

TEST(HwlocXml, ReadsGpusNamedByNvmlWhateverTheirTypeIs) {
  const HostTree tree = sample_tree();
  ASSERT_EQ(tree.gpus.size(), 5U);
  EXPECT_EQ(tree.gpus[2].bus_id, "0000:0b:00.0");
  EXPECT_EQ(tree.gpus[2].index, 2);
  EXPECT_EQ(tree.gpus[2].uuid, "GPU-2");
  EXPECT_EQ(tree.gpus[2].model, "Tesla V9");
  EXPECT_NEAR(at(tree, "07:00.0").link_GBps, 15.75, 0.01);
  EXPECT_EQ(at(tree, "85:00.0").cpus, "1");
  EXPECT_EQ(at(tree, "85:00.0").numa, 1);
  EXPECT_EQ(at(tree, "85:00.0").package, 1);
  EXPECT_EQ(at(tree, "21:00.0").kind, PciKind::Other) << "another vendor's VGA is no GPU here";
}

TEST(HwlocXml, TellsSwitchesFromTheirPortsAndNicsByTheirNames) {
  const HostTree tree = sample_tree();
  EXPECT_EQ(at(tree, "04:00.0").kind, PciKind::Bridge);
  EXPECT_EQ(at(tree, "05:00.0").kind, PciKind::Switch);
  EXPECT_EQ(at(tree, "06:00.0").kind, PciKind::Bridge);
  EXPECT_EQ(at(tree, "09:00.0").kind, PciKind::Switch);
  EXPECT_EQ(at(tree, "0c:00.0").kind, PciKind::Nic);
  EXPECT_EQ(at(tree, "0c:00.0").names, (std::vector<std::string>{"ib0", "mlx5_0"}));
  EXPECT_EQ(at(tree, "87:00.0").kind, PciKind::NvSwitch) << "though it has lost its ids";
}

TEST(HwlocXml, KnowsThePathsBetweenDevices) {
  const HostTree tree = sample_tree();
  EXPECT_EQ(path(tree, "07:00.0", "08:00.0"), "PIX");
  EXPECT_EQ(path(tree, "0b:00.0", "0c:00.0"), "PIX");
  EXPECT_EQ(path(tree, "07:00.0", "0b:00.0"), "PXB");
  EXPECT_EQ(path(tree, "85:00.0", "86:00.0"), "PHB");
  EXPECT_EQ(path(tree, "07:00.0", "21:00.0"), "NODE");
  EXPECT_EQ(path(tree, "07:00.0", "85:00.0"), "SYS");
}

TEST(HwlocXml, TakesFromTheMatrixOnlyWhatNvlinkJoins) {
  const HostTree tree = sample_tree();
  ASSERT_EQ(tree.nvlinks.size(), 4U);
  EXPECT_EQ(tree.nvlinks[0].from, "0000:07:00.0");
  EXPECT_EQ(tree.nvlinks[0].to, "0000:08:00.0");
  EXPECT_EQ(tree.nvlinks[0].kind, NvlinkKind::Gpu);
  EXPECT_EQ(tree.nvlinks[0].count, 0);
  EXPECT_EQ(tree.nvlinks[2].to, "0000:87:00.0");
  EXPECT_EQ(tree.nvlinks[2].kind, NvlinkKind::NvSwitch);
  ASSERT_TRUE(tree.nvlink_matrix.has_value());
  EXPECT_DOUBLE_EQ(tree.nvlink_matrix->GBps[0][1], 50);
  ASSERT_EQ(tree.warnings.size(), 1U);
  EXPECT_NE(tree.warnings[0].find("NVLinkBandwidth"), std::string::npos);
}

TEST(HwlocXml, ReadsHwloc1WithAndWithoutNodes) {
  const auto object = [](const char* type, const char* set, const std::string& inside) {
    std::string text = "<object type=\"" + std::string(type) + R"(" os_index="0")";
    for (const char* name : {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset"}) {
      if (*set != 0 || std::string(name).find("cpu") != std::string::npos) {
        text += " " + std::string(name) + "=\"0x00000001\"";
      }
    }
    return text + ">" + inside + "</object>";
  };
  const auto file = [&](const char* set, const char* node) {
    return "<topology>" +
           object("Machine", set,
                  R"(<info name="Architecture" value="ppc64"/>)" +
                      object(node, set, object("Socket", set, object("PU", set, "")))) +
           "</topology>";
  };
  for (const std::string& text : {file("1", "NUMANode"), file("", "Group")}) {
    const HostTree tree = parse_hwloc_xml(text, "f.xml");
    ASSERT_EQ(tree.packages.size(), 1U) << text;
    EXPECT_EQ(tree.packages[0].vendor, "ibm");
    ASSERT_EQ(tree.numa.size(), 1U) << text;
    EXPECT_EQ(tree.numa[0].cpus, "0");
  }
  EXPECT_NE(refused(file("", "NUMANode")), "");
}

TEST(HwlocXml, SeesVirtualMachines) {
  const std::string flat =
      sample::host_bridge("00-01", sample::gpu("0000:00:05.0", 0) + sample::gpu("0000:00:06.0", 1));
  const auto read = [](const std::string& inside, const char* product) {
    return parse_hwloc_xml(
        sample::machine(sample::package(0, inside) + sample::package(1, ""), "", product), "f.xml");
  };
  EXPECT_TRUE(read(flat, "Server").virtual_machine) << "no port above any GPU";
  EXPECT_NE(read(flat, "Server").warnings.at(0).find("flattened"), std::string::npos);
  EXPECT_TRUE(read("", "Standard PC (Q35 + ICH9, 2009)").virtual_machine);
  EXPECT_FALSE(read("", "g4dn.metal").virtual_machine);
}

TEST(HwlocXml, SaysInWordsWhatElseAFileIs) {
  EXPECT_NE(refused("<system version=\"1\"/>").find("f.xml:1:2: an NCCL topology"),
            std::string::npos);
  EXPECT_NE(refused("<topology version=\"3.0\"/>").find("hwloc 2 cannot import XML version 3.0"),
            std::string::npos);
  EXPECT_NE(refused("<topology version=\"x\"/>").find("none of hwloc's"), std::string::npos);
  EXPECT_NE(refused("<html/>").find("begins with <topology>"), std::string::npos);
  EXPECT_NE(refused("<topology version=\"2.0\"/>").find("hwloc cannot import it"),
            std::string::npos);
}

TEST(HwlocXml, RefusesTruncationsAnywhere) {
  const std::string text = sample::hwloc_xml();
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_NE(refused(text.substr(0, size)).find("f.xml:"), std::string::npos) << size;
  }
  EXPECT_NE(refused(text.substr(0, text.size() - 2)), "");
}

TEST(HwlocXml, ReadsOrRefusesHostileFilesWithoutACrash) {
  struct Change {
    std::string what;
    std::string instead;
    bool refused;
  };
  const std::string text = sample::hwloc_xml();
  for (const Change& change : {
           // A crash of hwloc 2.9.0: sets that are not there, or not those of the object around.
           Change{R"(complete_nodeset="0x00000001" gp_index="20")", R"(gp_index="20")", true},
           Change{R"(allowed_cpuset="0x00000003")", R"(allowed_cpuset="0x00000004")", true},
           Change{R"(cpuset="0x00000001")", R"(cpuset="1-2")", false},
           Change{R"(cpuset="0x00000001")", R"(cpuset=",,0x1")", false},
           Change{R"("PU" os_index="0")", R"("PU" os_index="1")", false},
           Change{R"("PU" os_index="0")", R"("PU" os_index="-1")", false},
           Change{R"("Core")", R"("Kernel")", false},
           Change{R"("Core")", R"("Machine")", false},
           Change{R"("Core")", R"("OSDev" name="x")", false},
           Change{R"(bridge_type="1-1")", R"(bridge_type="2-1")", false},
           Change{R"(pci_busid="0000:07:00.0")", R"(pci_busid="7")", false},
           Change{R"(nbobjs="5")", R"(nbobjs="50000")", false},
       }) {
    std::string changed = text;
    const std::size_t at = changed.find(change.what);
    ASSERT_NE(at, std::string::npos) << change.what;
    changed.replace(at, change.what.size(), change.instead);
    const std::string refusal = refused(changed);
    const bool imported = refusal.empty() && !change.refused;
    EXPECT_TRUE(imported || refusal.find("f.xml: hwloc cannot import it") == 0)
        << change.instead << ": " << refusal;
  }
}

TEST(HwlocXml, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  static_cast<void>(refused(sample::machine(sample::package(0, ""))));
  static_cast<void>(refused(R"(<topology version="2.0"><object type="Machine"/></topology>)"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(HwlocLive, SeesAtLeastOneNodeAndItsProcessors) {
  const HostTree tree = probe_hwloc();
  EXPECT_EQ(tree.origin, "hwloc");
  ASSERT_FALSE(tree.numa.empty());
  EXPECT_TRUE(std::any_of(tree.numa.begin(), tree.numa.end(),
                          [](const NumaNode& numa) { return !numa.cpus.empty(); }));
  for (std::size_t i = 0; i < tree.pci.size(); ++i) {
    EXPECT_LT(tree.pci[i].parent, static_cast<int>(i));
  }
}

struct Capture {
  const char* file;
  std::size_t packages;
  std::size_t nodes;  ///< without the memory of GPUs
  std::size_t gpu_nodes;
  std::size_t gpus;
  std::size_t nics;
  const char* to_second;  ///< path from the first GPU to the second
  const char* to_third;
};

TEST(HwlocXml, ReadsEveryCapture) {
  const std::filesystem::path folder = "../shared/data/hwloc_xml";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const Capture& capture : {
           Capture{"llnl-coral-ea-hwloc1.xml", 2, 2, 0, 4, 4, "NODE", "SYS"},
           Capture{"llnl-coral-lassen-hwloc1.xml", 2, 2, 4, 4, 6, "PIX", "SYS"},
           Capture{"llnl-coral-lassen.xml", 2, 2, 0, 4, 6, "PIX", "SYS"},
           Capture{"llnl-coral-rzansel-hwloc1.xml", 2, 2, 4, 4, 6, "PIX", "SYS"},
           Capture{"llnl-eas-tioga.xml", 1, 4, 0, 0, 5, "", ""},
           Capture{"llnl-epyc-corona.xml", 2, 8, 0, 0, 3, "", ""},
           Capture{"llnl-g4dnmetal.xml", 2, 2, 0, 8, 2, "PHB", "NODE"},
           Capture{"nvidiaDGX2.xml", 2, 2, 0, 16, 0, "PIX", "PXB"},
       }) {
    std::ifstream file(folder / capture.file);
    const HostTree tree = parse_hwloc_xml({std::istreambuf_iterator<char>(file), {}}, capture.file);
    const auto gpu_nodes = static_cast<std::size_t>(std::count_if(
        tree.numa.begin(), tree.numa.end(), [](const NumaNode& numa) { return numa.gpu_memory; }));
    const std::vector<int> gpus = all_of_kind(tree, PciKind::Gpu);
    EXPECT_EQ(tree.packages.size(), capture.packages) << capture.file;
    EXPECT_EQ(gpu_nodes, capture.gpu_nodes) << capture.file;
    EXPECT_EQ(tree.numa.size() - gpu_nodes, capture.nodes) << capture.file;
    EXPECT_EQ(tree.gpus.size(), capture.gpus) << capture.file;
    EXPECT_EQ(gpus.size(), capture.gpus) << capture.file;
    EXPECT_EQ(all_of_kind(tree, PciKind::Nic).size(), capture.nics) << capture.file;
    EXPECT_FALSE(tree.virtual_machine) << capture.file;
    if (gpus.empty()) continue;
    EXPECT_EQ(name(pci_path(tree, gpus[0], gpus[1])), capture.to_second) << capture.file;
    EXPECT_EQ(name(pci_path(tree, gpus[0], gpus[2])), capture.to_third) << capture.file;
    EXPECT_EQ(name(pci_path(tree, gpus.front(), gpus.back())), "SYS") << capture.file;
  }
}

TEST(HwlocXml, JoinsAllGpusOfTheDgx2ToItsSwitches) {
  const std::filesystem::path path = "../shared/data/hwloc_xml/nvidiaDGX2.xml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  std::ifstream file(path);
  const HostTree tree = parse_hwloc_xml({std::istreambuf_iterator<char>(file), {}}, path);
  EXPECT_EQ(tree.name, "NVIDIA DGX-2H");
  EXPECT_EQ(all_of_kind(tree, PciKind::NvSwitch).size(), 12U);
  EXPECT_EQ(tree.nvlinks.size(), 16U * 6);
  for (const NvlinkEnd& end : tree.nvlinks) EXPECT_EQ(end.kind, NvlinkKind::NvSwitch);
  for (int gpu = 0; gpu < 16; ++gpu) {
    EXPECT_EQ(tree.gpus.at(static_cast<std::size_t>(gpu)).index, gpu);
  }
}

}  // namespace
}  // namespace busbar::topo
