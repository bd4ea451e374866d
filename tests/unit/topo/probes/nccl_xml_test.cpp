// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nccl_xml.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/topo/nccl_source.hpp"
#include "tests/unit/topo/probes/refused.hpp"

namespace busbar::topo {
namespace {

TEST(NcclFacts, ReadAffinityMasks) {
  EXPECT_EQ(cpus_of_mask("000000ff,ffff0000,00ffffff"), "0-23,48-71");
  EXPECT_EQ(cpus_of_mask("fff0000,00000000"), "48-59");
  EXPECT_EQ(cpus_of_mask(""), "");
  EXPECT_EQ(cpus_of_mask("0-3"), std::nullopt);
}

TEST(NcclFacts, KnowGenerationsInBothSpellings) {
  EXPECT_EQ(pcie_generation("2.5 GT/s"), 1);
  EXPECT_EQ(pcie_generation("5 GT/s"), 2);
  EXPECT_EQ(pcie_generation("8.0 GT/s PCIe"), 3);
  EXPECT_EQ(pcie_generation("16 GT/s"), 4);
  EXPECT_EQ(pcie_generation("32.0 GT/s PCIe"), 5);
  EXPECT_EQ(pcie_generation("64.0 GT/s PCIe"), 6);
  EXPECT_EQ(pcie_generation(""), 0);
  EXPECT_EQ(pcie_generation("Unknown speed"), 0);
  for (const char* speed : {"fast", "9 GT/s", "16", "16 Gb/s", "0x10 GT/s"}) {
    EXPECT_EQ(pcie_generation(speed), std::nullopt) << speed;
  }
}

TEST(NcclFacts, ReckonLinksAsNcclDoes) {
  const auto link = [](int generation, int width) {
    PciObject pci{.generation = generation, .width = width};
    set_link_speeds(pci);
    return pci;
  };
  EXPECT_DOUBLE_EQ(link(3, 16).nccl_GBps, 12);
  EXPECT_DOUBLE_EQ(link(4, 16).nccl_GBps, 24);
  EXPECT_DOUBLE_EQ(link(5, 16).nccl_GBps, 48);
  EXPECT_DOUBLE_EQ(link(3, 8).nccl_GBps, 6);
  EXPECT_DOUBLE_EQ(link(1, 1).nccl_GBps, 0.1875);
  EXPECT_NEAR(link(3, 16).link_GBps, 15.75, 0.01);
  EXPECT_NEAR(link(5, 16).link_GBps, 63.0, 0.02);
  EXPECT_DOUBLE_EQ(link(2, 4).link_GBps, 2);
}

TEST(NcclFacts, KnowTheRateOfEveryGeneration) {
  struct Case {
    int generation;
    double lane_GBps;  ///< GT/s over 8 bits, times the part that is data
    double nccl;       ///< units of kvDictPciGen in NCCL's src/graph/topo.cc
  };
  for (const auto& [generation, lane_GBps, nccl] :
       {Case{1, 2.5 / 8 * 8 / 10, 15}, Case{2, 5.0 / 8 * 8 / 10, 30},
        Case{3, 8.0 / 8 * 128 / 130, 60}, Case{4, 16.0 / 8 * 128 / 130, 120},
        Case{5, 32.0 / 8 * 128 / 130, 240}, Case{6, 64.0 / 8 * 242 / 256, 480}}) {
    for (const int width : {1, 4, 16}) {
      PciObject pci{.generation = generation, .width = width};
      set_link_speeds(pci);
      EXPECT_NEAR(pci.link_GBps, width * lane_GBps, 1e-9) << generation;
      EXPECT_NEAR(pci.nccl_GBps, width * nccl / 80, 1e-9) << generation;
    }
  }
}

TEST(NcclFacts, HaveTheSpeedsOfNcclsSource) {
  const auto source = test::nccl_source("topo.cc");
  if (!source) GTEST_SKIP() << "no ../shared/data/nccl-2.28.9.tar.xz";
  const std::size_t table = source->find("kvDictPciGen[]");
  ASSERT_NE(table, std::string::npos);
  for (const char* speed :
       {"2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s", "2.5 GT/s PCIe", "5.0 GT/s PCIe",
        "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"}) {
    const auto units =
        test::numbers_between(source->substr(table), fmt::format("\"{}\",", speed), "}");
    ASSERT_EQ(units.size(), 1U) << speed;
    PciObject pci{.generation = pcie_generation(speed).value_or(0), .width = 16};
    set_link_speeds(pci);
    EXPECT_DOUBLE_EQ(pci.nccl_GBps, 16 * units.front() / 80) << speed;
  }
}

TEST(NcclFacts, TakeWhatIsNotToldForGeneration3By16) {
  PciObject pci;
  set_link_speeds(pci);
  EXPECT_DOUBLE_EQ(pci.nccl_GBps, 12);
  EXPECT_DOUBLE_EQ(pci.link_GBps, 0);
}

TEST(NcclFacts, TellKindsByClassAndVendor) {
  const auto kind = [](unsigned class_code, unsigned vendor, Inside inside = {}) {
    return nccl_kind({.vendor_id = vendor, .class_code = class_code}, inside);
  };
  EXPECT_EQ(kind(0x0302, 0x10de), PciKind::Gpu);
  EXPECT_EQ(kind(0x0300, 0), PciKind::Gpu);
  EXPECT_EQ(kind(0x0300, 0x1a03), PciKind::Other);
  EXPECT_EQ(kind(0x0207, 0x15b3), PciKind::Nic);
  EXPECT_EQ(kind(0x0604, 0x1000), PciKind::Switch);
  EXPECT_EQ(kind(0x0680, 0x10de), PciKind::NvSwitch);
  EXPECT_EQ(kind(0, 0), PciKind::Other);
  EXPECT_EQ(kind(0, 0, {.gpu = true}), PciKind::Gpu);
  EXPECT_EQ(kind(0, 0, {.nic = true}), PciKind::Nic);
  EXPECT_EQ(kind(0, 0, {.pci = true}), PciKind::Switch);
}

TEST(NcclFacts, TellWhatNvlinksEndAt) {
  EXPECT_EQ(nvlink_kind(0x030200), NvlinkKind::Gpu);
  EXPECT_EQ(nvlink_kind(0x068000), NvlinkKind::NvSwitch);
  EXPECT_EQ(nvlink_kind(0x068001), NvlinkKind::PowerBridge);
  EXPECT_EQ(nvlink_kind(0), NvlinkKind::Unknown);
}

/// GPUs 04 and 05 below one switch with NIC 06, GPU 84 on another node; 04 and 05 joined by two
/// NVLinks, 84 by three to a switch and by one to a GPU outside.
constexpr const char* kSample = R"(<system version="1">
  <cpu numaid="0" affinity="0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:02:00.0" class="0x060400" link_speed="8.0 GT/s PCIe" link_width="16">
      <pci busid="0000:04:00.0" class="0x030200" vendor="0x10de" link_speed="8 GT/s" link_width="16">
        <gpu dev="0" sm="70" rank="0" gdr="1">
          <nvlink target="0000:05:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:05:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="1" sm="70" rank="1"><nvlink target="0000:04:00.0" count="2" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:06:00.0" class="0x020700" link_speed="8 GT/s" link_width="8">
        <nic><net name="mlx5_0" dev="0" speed="100000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="000000f0" arch="ppc64">
    <pci busid="0000:84:00.0" class="0x030200">
      <gpu dev="2" sm="70">
        <nvlink target="0000:c4:00.0" count="3" tclass="0x068000"/>
        <nvlink target="0000:90:00.0" count="1" tclass="0x030200"/>
        <nvlink target="fffffff:ffff:ff" count="4" tclass="0x068000"/>
        <c2c bw="50000" count="2"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="1" speed="10000"/></nic>
  </cpu>
</system>
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

std::string refused(const std::string& text) {
  return refusal([&] { static_cast<void>(parse_nccl_xml(text, "f.xml")); });
}

std::string refused_with(const std::string& what, const std::string& instead) {
  return refused(with(kSample, what, instead));
}

TEST(NcclXml, ReadsNodesWithTheirProcessors) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  EXPECT_EQ(tree.origin, "f.xml");
  EXPECT_FALSE(tree.packages_known);
  ASSERT_EQ(tree.packages.size(), 2U);
  EXPECT_EQ(tree.packages[0].vendor, "intel");
  EXPECT_EQ(tree.packages[0].family, 6);
  EXPECT_EQ(tree.packages[0].model_number, 85);
  EXPECT_EQ(tree.packages[1].vendor, "ibm");
  EXPECT_EQ(tree.packages[1].family, -1);
  ASSERT_EQ(tree.numa.size(), 2U);
  EXPECT_EQ(tree.numa[1].os_index, 1);
  EXPECT_EQ(tree.numa[1].cpus, "4-7");
  EXPECT_TRUE(tree.warnings.empty()) << tree.warnings.front();
  EXPECT_FALSE(tree.virtual_machine);
}

TEST(NcclXml, ReadsTheTreeOfDevices) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  ASSERT_EQ(tree.pci.size(), 6U);
  EXPECT_EQ(tree.pci[0].kind, PciKind::Switch);
  EXPECT_EQ(tree.pci[3].kind, PciKind::Nic);
  EXPECT_EQ(tree.pci[3].parent, 0);
  EXPECT_EQ(tree.pci[3].names, std::vector<std::string>{"mlx5_0"});
  EXPECT_DOUBLE_EQ(tree.pci[3].net_GBps, 12.5);
  EXPECT_DOUBLE_EQ(tree.pci[3].nccl_GBps, 6);
  EXPECT_EQ(tree.pci[3].cpus, "0-3");
  EXPECT_DOUBLE_EQ(tree.pci[2].nccl_GBps, 12) << "what is not told is x16 of generation 3";
  EXPECT_DOUBLE_EQ(tree.pci[2].link_GBps, 0);
  EXPECT_EQ(tree.pci[5].bus_id, "");
  EXPECT_EQ(tree.pci[5].kind, PciKind::Nic);
  EXPECT_EQ(tree.pci[5].numa, 1);
  EXPECT_EQ(pci_path(tree, 1, 2), PciPath::Pix);
  EXPECT_EQ(pci_path(tree, 1, 4), PciPath::Sys);
}

TEST(NcclXml, ReadsGpusAndTheirNvlinks) {
  const HostTree tree = parse_nccl_xml(kSample, "f.xml");
  ASSERT_EQ(tree.gpus.size(), 3U);
  EXPECT_EQ(tree.gpus[1].bus_id, "0000:05:00.0");
  EXPECT_EQ(tree.gpus[1].sm, 70);
  EXPECT_EQ(tree.gpus[1].rank, 1);
  EXPECT_EQ(tree.gpus[2].rank, -1);
  EXPECT_DOUBLE_EQ(tree.gpus[2].c2c_GBps, 100);
  ASSERT_EQ(tree.nvlinks.size(), 5U);
  EXPECT_EQ(tree.nvlinks[0].count, 2);
  EXPECT_EQ(tree.nvlinks[0].kind, NvlinkKind::Gpu);
  EXPECT_EQ(tree.nvlinks[2].kind, NvlinkKind::NvSwitch);
  EXPECT_EQ(tree.nvlinks[3].to, "0000:90:00.0");
  EXPECT_EQ(tree.nvlinks[4].to, "ffff:ff:ff.f") << "a switch that a virtual machine hides";
}

TEST(NcclXml, KnowsNoNumberOfAGpuThatHasNone) {
  const HostTree tree = parse_nccl_xml(
      R"(<system version="1"><cpu numaid="0"><pci busid="0001:00:00.0" class="0x030200">)"
      R"(<gpu sm="70"/></pci></cpu></system>)",
      "f.xml");
  ASSERT_EQ(tree.gpus.size(), 1U);
  EXPECT_EQ(tree.gpus[0].index, -1);
  EXPECT_EQ(tree.gpus[0].rank, -1);
}

TEST(NcclXml, ReadsSkeletonsWithoutGpuElements) {
  const HostTree tree = parse_nccl_xml(
      R"(<system version="1"><cpu numaid="0"><pci busid="0001:00:00.0" class="0x030200"/>)"
      R"(<pci busid="0101:00:00.0" class="0x020700"/><pci busid="02:00.0"/></cpu></system>)",
      "f.xml");
  ASSERT_EQ(tree.gpus.size(), 1U);
  EXPECT_EQ(tree.gpus[0].index, -1);
  EXPECT_EQ(all_of_kind(tree, PciKind::Nic).size(), 1U);
  ASSERT_EQ(tree.warnings.size(), 1U);
  EXPECT_NE(tree.warnings[0].find("1 device without a class, 0000:02:00.0"), std::string::npos);
}

TEST(NcclXml, SaysInWordsWhatElseAFileIs) {
  EXPECT_NE(refused("<graphs version=\"1\"/>").find("f.xml:1:2: an NCCL graph"), std::string::npos);
  EXPECT_NE(refused("<topology version=\"2.0\"/>").find("--hwloc"), std::string::npos);
  EXPECT_NE(refused_with("version=\"1\"", "version=\"2\"").find("RCCL"), std::string::npos);
  EXPECT_NE(refused_with("version=\"1\"", "version=\"3\"").find("version '3'"), std::string::npos);
  EXPECT_NE(refused("<html/>").find("begins with <system>"), std::string::npos);
  EXPECT_NE(refused("<system version=\"1\"/>").find("no <cpu>"), std::string::npos);
}

TEST(NcclXml, NamesThePlaceOfABadValue) {
  EXPECT_EQ(refused_with("link_width=\"16\"", "link_width=\"x16\"").substr(0, 62),
            "f.xml:3:75: link_width='x16': a whole number from 0 to 64 is w");
  EXPECT_NE(refused_with("8.0 GT/s PCIe", "quick").find("f.xml:3:48: link_speed='quick'"),
            std::string::npos);
  EXPECT_NE(refused_with("sm=\"70\"", "sm=\"7O\"").find("f.xml:5:22: sm='7O'"), std::string::npos);
  EXPECT_NE(refused_with("count=\"2\"", "count=\"0\"").find("count='0'"), std::string::npos);
  EXPECT_NE(refused_with("0x060400", "6O4").find("class='6O4'"), std::string::npos);
  EXPECT_NE(refused_with("0000000f", "0-3").find("affinity"), std::string::npos);
  EXPECT_NE(refused_with("speed=\"100000\"", "speed=\"100000001\"").find("speed='100000001'"),
            std::string::npos);
  EXPECT_EQ(refused_with("speed=\"100000\"", "speed=\"0\"").find("speed"), std::string::npos);
  // The name is an attribute's value before it is an attribute.
  EXPECT_NE(refused_with("name=\"mlx5_0\" dev=\"0\" speed=\"100000\"", "name=\"speed\" speed=\"x\"")
                .find(":32: speed='x'"),
            std::string::npos);
  EXPECT_NE(refused_with("speed=\"100000\"", "speed=\"1e5\"").find("speed='1e5'"),
            std::string::npos);
}

TEST(NcclXml, RefusesAddressesThatAreNoneOrThereTwice) {
  EXPECT_NE(refused_with("0000:06:00.0", "0000:06").find("f.xml:12:12: busid='0000:06'"),
            std::string::npos);
  EXPECT_NE(refused_with("0000:06:00.0", "0000:05:00.0").find("is there twice"), std::string::npos);
  EXPECT_NE(refused_with("busid=\"0000:06:00.0\"", "").find("<pci> has no busid"),
            std::string::npos);
  EXPECT_NE(refused_with("target=\"0000:05:00.0\"", "target=\"GPU1\"").find("target='GPU1'"),
            std::string::npos);
  EXPECT_NE(refused_with("0000:90:00.0", "0000:c4:00.0").find("twice for one GPU"),
            std::string::npos);
  EXPECT_NE(refused_with("numaid=\"1\"", "numaid=\"0\"").find("one host"), std::string::npos);
}

TEST(NcclXml, RefusesElementsOutOfPlace) {
  EXPECT_NE(
      refused_with("<c2c bw=\"50000\" count=\"2\"/>", "<net/>").find("cannot be inside <gpu>"),
      std::string::npos);
  EXPECT_NE(refused_with("<c2c bw", "stray <c2c bw").find("text between the elements"),
            std::string::npos);
  EXPECT_NE(refused_with("dev=\"0\"", "dev=\"0\" dev=\"1\"").find("'dev' twice"),
            std::string::npos);
}

TEST(NcclXml, LeavesUnknownElementsOutWithAWarning) {
  const HostTree tree =
      parse_nccl_xml(with(kSample, R"(<c2c bw="50000" count="2"/>)", "<news/><news/>"), "f.xml");
  ASSERT_EQ(tree.warnings.size(), 1U);
  EXPECT_EQ(tree.warnings[0], "f.xml:23:10: <news> is unknown and left out");
}

TEST(NcclXml, WarnsOfNvlinksThatDoNotFit) {
  const HostTree other = parse_nccl_xml(
      with(kSample, R"(0000:05:00.0" count="2")", R"(0000:05:00.0" count="1")"), "f");
  ASSERT_EQ(other.warnings.size(), 1U);
  EXPECT_EQ(other.warnings[0],
            "asymmetric link: 0000:04:00.0 reports 1 NVLink to 0000:05:00.0, which reports 2 back");
  const HostTree itself =
      parse_nccl_xml(with(kSample, "target=\"0000:90:00.0", "target=\"0000:84:00.0"), "f");
  EXPECT_EQ(itself.nvlinks[3].kind, NvlinkKind::Unknown);
  EXPECT_EQ(itself.warnings.size(), 1U);
}

TEST(NcclXml, SeesVirtualMachines) {
  EXPECT_TRUE(
      parse_nccl_xml(with(kSample, "0000:02:00.0", "ffff:ff:01.0"), "f.xml").virtual_machine);
  const HostTree slow =
      parse_nccl_xml(with(kSample, R"(84:00.0" class="0x030200")",
                          R"(84:00.0" class="0x030200" link_speed="2.5 GT/s" link_width="1")"),
                     "f.xml");
  EXPECT_TRUE(slow.virtual_machine);
}

TEST(NcclXml, RefusesEveryTruncation) {
  const std::string text = kSample;
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_NE(refused(text.substr(0, size)), "") << size;
  }
  EXPECT_EQ(refused(text), "");
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Capture {
  const char* file;
  std::size_t gpus;
  std::size_t nics;
  std::size_t nodes;
  std::size_t nvlinks;
  const char* to_second;  ///< path from the first GPU to the second
  const char* to_nic;     ///< and to the first NIC
};

TEST(NcclXml, ReadsEveryCapture) {
  const std::filesystem::path folder = "../shared/data/nccl_topo_xml";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const Capture& capture : {
           Capture{"aws-g5.48xl-topo.xml", 0, 0, 2, 0, "", ""},
           Capture{"aws-p4d-24xl-topo.xml", 8, 4, 2, 0, "PIX", "PIX"},
           Capture{"aws-p4de-24xl-topo.xml", 8, 4, 2, 0, "PIX", "PIX"},
           Capture{"azure-ncv4-topo.xml", 4, 1, 4, 4, "SYS", "PHB"},
           Capture{"azure-ndv2-topo.xml", 8, 1, 2, 0, "PHB", "PHB"},
           Capture{"azure-ndv5-topo.xml", 8, 8, 2, 0, "PHB", "PIX"},
           Capture{"oci-H100-topology-kubernetes.xml", 8, 8, 2, 32, "PHB", "PXB"},
           Capture{"oci-topo-flattened-b4.xml", 8, 8, 4, 0, "PIX", "PIX"},
           Capture{"oci-topo-flattened.xml", 8, 8, 4, 0, "PIX", "PIX"},
       }) {
    const HostTree tree = parse_nccl_xml(contents(folder / capture.file), capture.file);
    const std::vector<int> gpus = all_of_kind(tree, PciKind::Gpu);
    const std::vector<int> nics = all_of_kind(tree, PciKind::Nic);
    EXPECT_EQ(tree.gpus.size(), capture.gpus) << capture.file;
    EXPECT_EQ(gpus.size(), capture.gpus) << capture.file;
    EXPECT_EQ(nics.size(), capture.nics) << capture.file;
    EXPECT_EQ(tree.numa.size(), capture.nodes) << capture.file;
    EXPECT_EQ(tree.nvlinks.size(), capture.nvlinks) << capture.file;
    if (gpus.empty()) continue;
    EXPECT_EQ(name(pci_path(tree, gpus[0], gpus[1])), capture.to_second) << capture.file;
    EXPECT_EQ(name(pci_path(tree, gpus[0], nics[0])), capture.to_nic) << capture.file;
    EXPECT_EQ(name(pci_path(tree, gpus.front(), gpus.back())), "SYS") << capture.file;
  }
  const std::string graph = contents(folder / "azure-ncv4-graph.xml");
  EXPECT_NE(refused(graph).find("an NCCL graph"), std::string::npos);
}

TEST(NcclXml, CountsTheNvlinksOfTheH100Capture) {
  const std::filesystem::path file =
      "../shared/data/nccl_topo_xml/oci-H100-topology-kubernetes.xml";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const HostTree tree = parse_nccl_xml(contents(file), file);
  for (const GpuFact& gpu : tree.gpus) {
    int links = 0;
    for (const NvlinkEnd& end : tree.nvlinks) {
      if (end.from == gpu.bus_id && end.kind == NvlinkKind::NvSwitch) links += end.count;
    }
    EXPECT_EQ(links, 18) << gpu.bus_id;
    EXPECT_EQ(gpu.sm, 90);
  }
  EXPECT_DOUBLE_EQ(tree.pci.at(2).nccl_GBps, 48);
  EXPECT_DOUBLE_EQ(tree.pci.at(static_cast<std::size_t>(find_pci(tree, "0c:00.0"))).net_GBps, 50);
}

}  // namespace
}  // namespace busbar::topo
