// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/host_tree.hpp"

namespace busbar::topo {
namespace {

TEST(HostTree, FindsObjectsByAnySpellingOfTheirBusId) {
  const HostTree tree{.pci = {{}, {.bus_id = "0000:04:00.0"}, {.bus_id = "0000:0a:00.0"}}};
  EXPECT_EQ(find_pci(tree, "00000000:0A:00.0"), &tree.pci[2]);
  EXPECT_EQ(find_pci(tree, "0a:00.0"), &tree.pci[2]);
  EXPECT_EQ(find_pci(tree, "0000:ff:00.0"), nullptr);
  EXPECT_EQ(find_pci(tree, ""), nullptr);
}

TEST(HostTree, NamesVendorsOfProcessors) {
  EXPECT_EQ(cpu_vendor("GenuineIntel", "x86_64"), "intel");
  EXPECT_EQ(cpu_vendor("AuthenticAMD", "x86_64"), "amd");
  EXPECT_EQ(cpu_vendor("  Shanghai  ", "x86_64"), "zhaoxin");
  EXPECT_EQ(cpu_vendor("CentaurHauls", "x86_64"), "zhaoxin");
  EXPECT_EQ(cpu_vendor("", "ppc64le"), "ibm");
  EXPECT_EQ(cpu_vendor("", "aarch64"), "arm");
  EXPECT_EQ(cpu_vendor("HygonGenuine", "x86_64"), "HygonGenuine");
  EXPECT_EQ(cpu_vendor("", "x86_64"), "");
}

}  // namespace
}  // namespace busbar::topo
