// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/topo/probes/sample_hwloc.hpp"
#include "tests/unit/topo/probes/tree_text.hpp"

namespace busbar::topo {
namespace {

using sample::count_kind;
using sample::pcie_path;
using test::text_of;
using testing::FieldsAre;

std::string hwloc_refusal(const std::string& text) {
  return test::failure_of([&] { static_cast<void>(parse_hwloc_xml(text, "f.xml")); }).message;
}

HostTree sample_tree() { return parse_hwloc_xml(sample::hwloc_xml(), "f.xml"); }

/// The tree of a machine of two packages, with this in the first one.
HostTree tree_of(const std::string& inside, const std::string& product = "Server") {
  return parse_hwloc_xml(sample::machine(sample::package(0, inside, 0) + sample::package(1, "", 1),
                                         {.product = product}),
                         "f.xml");
}

const PciObject& at(const HostTree& tree, const char* bus_id) { return *find_pci(tree, bus_id); }

TEST(HwlocXml, ReadsPackagesAndNodes) {
  const HostTree tree = sample_tree();
  EXPECT_EQ(tree.origin, "f.xml");
  EXPECT_THAT(tree.packages, ElementsAre(FieldsAre(0, "intel", "Xeon 9", 85),
                                         FieldsAre(1, "intel", "Xeon 9", 85)));
  // Number, package, with processors, of a GPU.
  EXPECT_THAT(tree.numa, ElementsAre(FieldsAre(0, 0, true, false), FieldsAre(1, 1, true, false)));
}

TEST(HwlocXml, ReadsGpusNamedByNvmlWhateverTheirTypeIs) {
  const HostTree tree = sample_tree();
  EXPECT_THAT(sample::lines_of(tree.gpus),
              ElementsAre("0 GPU-0 Tesla V9 at 0000:07:00.0", "1 GPU-1 Tesla V9 at 0000:08:00.0",
                          "2 GPU-2 Tesla V9 at 0000:0b:00.0", "3 GPU-3 Tesla V9 at 0000:85:00.0",
                          "4 GPU-4 Tesla V9 at 0000:86:00.0"));
  EXPECT_NEAR(at(tree, "07:00.0").link_GBps, 15.75, 0.01);
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
  const std::string nic = R"(<object type="OSDev" gp_index="7" name="hsn0" osdev_type="2"/>)";
  EXPECT_EQ(count_kind(tree_of(nic), PciKind::Nic), 1U) << "of a bus that hwloc does not show";
}

TEST(HwlocXml, LeavesVirtualFunctionsOutBesideTheirAdapter) {
  const auto nic = [](const std::string& bus_id, const std::string& model) {
    return sample::device(bus_id, "0207 [15b3:1018]",
                          "<info name=\"PCIDevice\" value=\"" + model + "\"/>");
  };
  const std::string virtual_nics =
      nic("0000:02:00.1", "ConnectX-5 Virtual Function") + nic("0000:02:00.2", "Virtual Function");
  const auto nics = [](const std::string& inside) {
    return count_kind(tree_of(sample::host_bridge("02-02", inside)), PciKind::Nic);
  };
  EXPECT_EQ(nics(nic("0000:02:00.0", "ConnectX-5") + virtual_nics), 1U);
  EXPECT_EQ(nics(virtual_nics), 2U) << "inside a virtual machine";
}

TEST(HwlocXml, KnowsThePathsBetweenDevices) {
  const HostTree tree = sample_tree();
  EXPECT_EQ(pcie_path(tree, "07:00.0", "08:00.0"), "PIX");
  EXPECT_EQ(pcie_path(tree, "0b:00.0", "0c:00.0"), "PIX");
  EXPECT_EQ(pcie_path(tree, "07:00.0", "0b:00.0"), "PXB");
  EXPECT_EQ(pcie_path(tree, "85:00.0", "86:00.0"), "PHB");
  EXPECT_EQ(pcie_path(tree, "07:00.0", "85:00.0"), "SYS");
}

TEST(HwlocXml, TakesTheMatrixOfNvlinkAsItIs) {
  const HostTree tree = sample_tree();
  ASSERT_TRUE(tree.nvlink_matrix.has_value());
  EXPECT_EQ(tree.nvlink_matrix->bus_ids,
            (std::vector<std::string>{"0000:07:00.0", "0000:08:00.0", "0000:85:00.0",
                                      "0000:86:00.0", "0000:87:00.0"}));
  EXPECT_EQ(tree.nvlink_matrix->GBps[0], (std::vector<double>{1000, 50, 0, 0, 0}));
  EXPECT_EQ(tree.nvlink_matrix->GBps[2], (std::vector<double>{0, 0, 1000, 0, 150}));
  EXPECT_THAT(tree.warnings, ElementsAre(HasSubstr("NVLinkBandwidth")));
}

TEST(HwlocXml, ReadsHwloc1WithAndWithoutNodes) {
  const auto file = [](bool nodes, const char* node) {
    const std::string sets =
        fmt::format(R"(os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001"{})",
                    nodes ? R"( nodeset="0x00000001" complete_nodeset="0x00000001")" : "");
    return fmt::format(
        R"(<topology><object type="Machine" {0}><info name="Architecture" value="ppc64"/>)"
        R"(<object type="{1}" {0}><object type="Socket" {0}><object type="PU" {0}/></object>)"
        "</object></object></topology>",
        sets, node);
  };
  for (const std::string& text : {file(true, "NUMANode"), file(false, "Group")}) {
    const HostTree tree = parse_hwloc_xml(text, "f.xml");
    ASSERT_EQ(tree.packages.size(), 1U) << text;
    EXPECT_EQ(tree.packages[0].vendor, "ibm");
    ASSERT_EQ(tree.numa.size(), 1U) << text;
    EXPECT_TRUE(tree.numa[0].has_cpus);
  }
  EXPECT_NE(hwloc_refusal(file(false, "NUMANode")), "");
}

TEST(HwlocXml, SeesVirtualMachines) {
  const std::string flat =
      sample::host_bridge("00-01", sample::gpu("0000:00:05.0", 0) + sample::gpu("0000:00:06.0", 1));
  EXPECT_TRUE(tree_of(flat).virtual_machine) << "no port above any GPU";
  EXPECT_NE(tree_of(flat).warnings.at(0).find("flattened"), std::string::npos);
  EXPECT_TRUE(tree_of("", "Standard PC (Q35 + ICH9, 2009)").virtual_machine);
  EXPECT_FALSE(tree_of("", "g4dn.metal").virtual_machine);
}

TEST(HwlocXml, KnowsASwitchWithoutARootPortByItsPorts) {
  const auto kind = [](const std::string& ids_of_ports) {
    const std::string inside = sample::port(
        "0000:02:00.0", "10b5:9781", 1, "03-04",
        sample::port("0000:03:00.0", ids_of_ports, 2, "04-04", sample::gpu("0000:04:00.0", 0)));
    return at(tree_of(sample::host_bridge("02-04", inside)), "02:00.0").kind;
  };
  EXPECT_EQ(kind("10b5:9781"), PciKind::Switch);
  EXPECT_EQ(kind("10b5:9797"), PciKind::Bridge);
  EXPECT_EQ(kind("8086:9781"), PciKind::Bridge);
}

TEST(HwlocXml, NamesWhatElseAFileIs) {
  for (const auto& [text, token] :
       {std::pair{"<system version=\"1\"/>",
                  "f.xml:1:2: an NCCL topology, not hwloc's; give it as --nccl-xml"},
        {"<topology version=\"3.0\"/>", "version 3.0 of hwloc 3"},
        {"<topology version=\"x\"/>", "'x'"},
        {"<topology version=\"0.9\"/>", "'0.9'"},
        {"<html/>", "begins with <topology>"},
        {"<topology version=\"2.0\"/>", "hwloc cannot import it"}}) {
    EXPECT_THAT(hwloc_refusal(text), HasSubstr(token));
  }
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
    const std::string refusal = hwloc_refusal(changed);
    const bool imported = refusal.empty() && !change.refused;
    EXPECT_TRUE(imported || refusal.find("f.xml: hwloc cannot import it") == 0)
        << change.instead << ": " << refusal;
  }
}

TEST(HwlocXml, PrintsNothing) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  static_cast<void>(hwloc_refusal(sample::machine(sample::package(0, "", 0))));
  static_cast<void>(
      hwloc_refusal(R"(<topology version="2.0"><object type="Machine"/></topology>)"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(HwlocLive, SeesAtLeastOneNodeAndItsProcessors) {
  const HostTree tree = probe_hwloc();
  EXPECT_EQ(tree.origin, "hwloc");
  EXPECT_TRUE(std::any_of(tree.numa.begin(), tree.numa.end(),
                          [](const NumaNode& numa) { return numa.has_cpus; }));
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
    SCOPED_TRACE(capture.file);
    const HostTree tree = parse_hwloc_xml(text_of(folder / capture.file), capture.file);
    const auto gpu_nodes = static_cast<std::size_t>(std::count_if(
        tree.numa.begin(), tree.numa.end(), [](const NumaNode& numa) { return numa.gpu_memory; }));
    EXPECT_EQ(tree.packages.size(), capture.packages);
    EXPECT_EQ(gpu_nodes, capture.gpu_nodes);
    EXPECT_EQ(tree.numa.size() - gpu_nodes, capture.nodes);
    ASSERT_EQ(tree.gpus.size(), capture.gpus);
    EXPECT_EQ(count_kind(tree, PciKind::Gpu), capture.gpus);
    EXPECT_EQ(count_kind(tree, PciKind::Nic), capture.nics);
    EXPECT_FALSE(tree.virtual_machine);
    if (tree.gpus.empty()) continue;
    const std::string& first = tree.gpus[0].bus_id;
    EXPECT_EQ(pcie_path(tree, first, tree.gpus[1].bus_id), capture.to_second);
    EXPECT_EQ(pcie_path(tree, first, tree.gpus[2].bus_id), capture.to_third);
    EXPECT_EQ(pcie_path(tree, first, tree.gpus.back().bus_id), "SYS");
  }
}

}  // namespace
}  // namespace busbar::topo
