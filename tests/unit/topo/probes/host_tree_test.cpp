// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/host_tree.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

/// Two host bridges on node 0 and one on node 1:
///   0 host bridge - 1 port - 2 switch - 3 port - 4 GPU
///                                     - 5 port - 6 NIC
///                                     - 7 port - 8 switch - 9 port - 10 GPU
///                 - 11 port - 12 GPU
///   13 host bridge - 14 GPU             15 host bridge (node 1) - 16 GPU
HostTree sample() {
  HostTree tree;
  const auto add = [&](PciKind kind, int parent, int numa, const char* bus_id) {
    tree.pci.push_back({.bus_id = bus_id, .kind = kind, .parent = parent, .numa = numa});
  };
  add(PciKind::HostBridge, -1, 0, "");
  add(PciKind::Bridge, 0, 0, "0000:01:00.0");
  add(PciKind::Switch, 1, 0, "0000:02:00.0");
  add(PciKind::Bridge, 2, 0, "0000:03:00.0");
  add(PciKind::Gpu, 3, 0, "0000:04:00.0");
  add(PciKind::Bridge, 2, 0, "0000:03:01.0");
  add(PciKind::Nic, 5, 0, "0000:06:00.0");
  add(PciKind::Bridge, 2, 0, "0000:03:02.0");
  add(PciKind::Switch, 7, 0, "0000:08:00.0");
  add(PciKind::Bridge, 8, 0, "0000:09:00.0");
  add(PciKind::Gpu, 9, 0, "0000:0a:00.0");
  add(PciKind::Bridge, 0, 0, "0000:01:01.0");
  add(PciKind::Gpu, 11, 0, "0000:0c:00.0");
  add(PciKind::HostBridge, -1, 0, "");
  add(PciKind::Gpu, 13, 0, "0000:20:00.0");
  add(PciKind::HostBridge, -1, 1, "");
  add(PciKind::Gpu, 15, 1, "0000:80:00.0");
  return tree;
}

TEST(PciPath, NamesWhatDevicesMeetIn) {
  const HostTree tree = sample();
  EXPECT_EQ(pci_path(tree, 4, 4), PciPath::Self);
  EXPECT_EQ(pci_path(tree, 4, 6), PciPath::Pix);
  EXPECT_EQ(pci_path(tree, 4, 10), PciPath::Pxb);
  EXPECT_EQ(pci_path(tree, 4, 12), PciPath::Phb);
  EXPECT_EQ(pci_path(tree, 4, 14), PciPath::Node);
  EXPECT_EQ(pci_path(tree, 4, 16), PciPath::Sys);
}

TEST(PciPath, IsTheSameInBothDirections) {
  const HostTree tree = sample();
  for (int one = 0; one < 17; ++one) {
    for (int other = 0; other < 17; ++other) {
      EXPECT_EQ(pci_path(tree, one, other), pci_path(tree, other, one)) << one << ' ' << other;
    }
  }
}

TEST(PciPath, IsPhbWhereTheSourceShowsNoHostBridges) {
  HostTree tree;
  tree.pci.push_back({.kind = PciKind::Gpu, .numa = 3});
  tree.pci.push_back({.kind = PciKind::Gpu, .numa = 3});
  tree.pci.push_back({.kind = PciKind::Gpu, .numa = 4});
  EXPECT_EQ(pci_path(tree, 0, 1), PciPath::Phb);
  EXPECT_EQ(pci_path(tree, 0, 2), PciPath::Sys);
}

TEST(PciPath, IsSysWhereNothingIsKnownOfTheNodes) {
  HostTree tree;
  tree.pci.push_back({.kind = PciKind::Gpu});
  tree.pci.push_back({.kind = PciKind::Gpu});
  EXPECT_EQ(pci_path(tree, 0, 1), PciPath::Sys);
  tree.pci[0].package = tree.pci[1].package = 0;
  EXPECT_EQ(pci_path(tree, 0, 1), PciPath::Phb);
}

TEST(PciPath, ThrowsForAnObjectThatIsNotThere) {
  EXPECT_THROW(static_cast<void>(pci_path(sample(), 4, 99)), std::out_of_range);
}

TEST(CommonAncestor, IsTheNearestAboveBoth) {
  const HostTree tree = sample();
  EXPECT_EQ(common_ancestor(tree, 4, 6), 2);
  EXPECT_EQ(common_ancestor(tree, 4, 12), 0);
  EXPECT_EQ(common_ancestor(tree, 4, 14), -1);
  EXPECT_EQ(common_ancestor(tree, 4, 2), 2);
}

TEST(HostTree, FindsObjectsByAnySpellingOfTheirBusId) {
  const HostTree tree = sample();
  EXPECT_EQ(find_pci(tree, "00000000:0A:00.0"), 10);
  EXPECT_EQ(find_pci(tree, "0a:00.0"), 10);
  EXPECT_EQ(find_pci(tree, "0000:ff:00.0"), -1);
  EXPECT_EQ(find_pci(tree, ""), -1);
}

TEST(HostTree, ListsObjectsOfAKind) {
  EXPECT_EQ(all_of_kind(sample(), PciKind::Gpu), (std::vector<int>{4, 10, 12, 14, 16}));
  EXPECT_TRUE(all_of_kind(sample(), PciKind::NvSwitch).empty());
}

TEST(HostTree, NamesVendorsOfProcessors) {
  EXPECT_EQ(cpu_vendor("GenuineIntel", "x86_64"), "intel");
  EXPECT_EQ(cpu_vendor("AuthenticAMD", "x86_64"), "amd");
  EXPECT_EQ(cpu_vendor("  Shanghai  ", "x86_64"), "zhaoxin");
  EXPECT_EQ(cpu_vendor("", "ppc64le"), "ibm");
  EXPECT_EQ(cpu_vendor("", "aarch64"), "arm");
  EXPECT_EQ(cpu_vendor("HygonGenuine", "x86_64"), "HygonGenuine");
  EXPECT_EQ(cpu_vendor("", "x86_64"), "");
}

TEST(HostTree, NamesPathsAndKinds) {
  EXPECT_EQ(name(PciPath::Self), "X");
  EXPECT_EQ(name(PciPath::Pix), "PIX");
  EXPECT_EQ(name(PciPath::Sys), "SYS");
  EXPECT_EQ(name(PciKind::HostBridge), "host-bridge");
  EXPECT_EQ(name(PciKind::Other), "other");
}

}  // namespace
}  // namespace busbar::topo
