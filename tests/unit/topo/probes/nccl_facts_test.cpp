// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nccl_facts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/topo/nccl_source.hpp"

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

}  // namespace
}  // namespace busbar::topo
