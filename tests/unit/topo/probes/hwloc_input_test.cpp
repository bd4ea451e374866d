// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc_input.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/gpu_server.hpp"
#include "tests/unit/topo/probes/refused.hpp"
#include "tests/unit/topo/probes/sample_hwloc.hpp"

namespace busbar::topo {
namespace {

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

/// What is wrong with the sample once `what` is replaced.
std::string refused_with(const std::string& what, const std::string& instead) {
  return refusal(
      [&] { static_cast<void>(hwloc_input(with(sample::hwloc_xml(), what, instead), "f.xml")); });
}

void expect_refused(const std::string& what, const std::string& instead, const char* why) {
  EXPECT_NE(refused_with(what, instead).find(why), std::string::npos)
      << what << " -> " << instead << ": " << refused_with(what, instead);
}

TEST(HwlocInput, LeavesOutWhatIsNotWanted) {
  std::string text = sample::hwloc_xml();
  text = with(text, "</topology>",
              "<support name=\"discovery.pu\"/><cpukind cpuset=\"0x1\"/><memattr name=\"x\"/>"
              "<distances2 name=\"NUMALatency\" nbobjs=\"2\"/></topology>");
  text = with(text, R"(<object type="Machine")", R"(<memattr name="y"/><object type="Machine")");
  text = with(text, "<object type=\"Core\"",
              R"(<object type="Misc" name="m"/><userdata/><object odd="1" type="Core")");
  const std::string input = hwloc_input(text, "f.xml");
  for (const char* word :
       {"support", "cpukind", "memattr", "NUMALatency", "Misc", "userdata", "odd"}) {
    EXPECT_EQ(input.find(word), std::string::npos) << word;
  }
  for (const char* word : {"NVLinkBandwidth", "osdev_type=\"5\"", "DMIProductName", "<!DOCTYPE"}) {
    EXPECT_NE(input.find(word), std::string::npos) << word;
  }
}

TEST(HwlocInput, WritesOddMasksPlainly) {
  const std::string text =
      with(sample::hwloc_xml(), R"( cpuset="0x00000001")", R"( cpuset=",,0x1")");
  EXPECT_EQ(hwloc_input(text, "f.xml"), hwloc_input(sample::hwloc_xml(), "f.xml"));
}

TEST(HwlocInput, RefusesSetsThatAreNotThereOrDoNotFit) {
  expect_refused(R"(complete_nodeset="0x00000001" gp_index="20")", "gp_index=\"20\"",
                 "complete_nodeset=''");
  expect_refused("cpuset=\"0x00000001\"", "cpuset=\"1-2\"", "cpuset='1-2'");
  expect_refused("cpuset=\"0x00000001\"", "cpuset=\"0x00000004\"", "within that of the object");
  expect_refused(
      R"(allowed_cpuset="0x00000003" nodeset="0x00000003" complete_nodeset="0x00000003")",
      R"(nodeset="0x00000003" complete_nodeset="0x00000001")", "complete set lacks");
}

TEST(HwlocInput, RefusesProcessorsAndNodesThatAreNotThemselves) {
  expect_refused(R"("PU" os_index="0")", R"("PU" os_index="1")", "the set of PU 1 is not itself");
  expect_refused(R"("PU" os_index="0")", "\"PU\"", "a PU without os_index");
  expect_refused(R"("NUMANode" os_index="0")", R"("NUMANode" os_index="7")", "is not itself");
}

TEST(HwlocInput, RefusesObjectsOutOfPlaceOrUnknown) {
  expect_refused("\"Core\"", "\"Kernel\"", "type 'Kernel'");
  expect_refused("\"Core\"", "\"Machine\"", "a Machine cannot be inside a Package");
  expect_refused("\"Core\"", R"("OSDev" name="x")", "a PU cannot be inside a OSDev");
  expect_refused("gp_index=\"41\"", "gp_index=\"40\"", "gp_index='40' is there twice");
  expect_refused("gp_index=\"40\"", "gp_index=\"4O\"", "gp_index='4O'");
  expect_refused("bridge_type=\"1-1\"", "bridge_type=\"2-1\"", "bridge_type='2-1'");
  expect_refused("pci_busid=\"0000:07:00.0\"", "pci_busid=\"7\"", "pci_busid='7'");
  expect_refused("nbobjs=\"5\"", "nbobjs=\"50000\"", "nbobjs='50000'");
  expect_refused(R"(<info name="CPUVendor" value="GenuineIntel"/>)", "<info name=\"CPUVendor\"/>",
                 "without value");
}

TEST(HwlocInput, RefusesAMachineOfWhichNothingIsAllowed) {
  expect_refused(R"(allowed_cpuset="0x00000003")", R"(allowed_cpuset="0x00000004")",
                 "no processor (PU)");
  expect_refused(R"(allowed_nodeset="0x00000003")", R"(allowed_nodeset="x")", "f.xml:4:");
}

TEST(HwlocInput, TellsNumaNodesFromProcessors) {
  const std::string one_node =
      sample::GpuServer{.numa_nodes = 1, .cores = 2, .gpus = 1}.hwloc_xml();
  static_cast<void>(hwloc_input(one_node, "f.xml"));
  EXPECT_NE(refusal([&] {
              const std::string of_a_processor = R"(allowed_nodeset="0x00000002")";
              static_cast<void>(hwloc_input(
                  with(one_node, R"(allowed_nodeset="0x00000001")", of_a_processor), "f.xml"));
            }).find("no processor (PU) or no NUMANode"),
            std::string::npos);
}

TEST(HwlocInput, TakesKindsOfDistancesUpTo65536) {
  const std::string kind = R"(kind="65536")";
  const std::string text = with(sample::hwloc_xml(), R"(nbobjs="5")", R"(nbobjs="5" odd="")");
  const std::size_t at = text.find(" kind=\"", text.find("nbobjs=\"5\""));
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = text.find('"', at + 7);
  const auto with_kind = [&](const std::string& value) {
    return refusal([&] {
      static_cast<void>(
          hwloc_input(std::string(text).replace(at + 7, end - at - 7, value), "f.xml"));
    });
  };
  EXPECT_EQ(with_kind("65536").find("kind='"), std::string::npos);
  EXPECT_NE(with_kind("65537").find("kind='65537'"), std::string::npos);
}

TEST(HwlocInput, NamesThePlace) {
  EXPECT_EQ(
      refused_with("\"Machine\" os_index=\"0\"", "\"Machine\" os_index=\"zero\"").substr(0, 26),
      "f.xml:4:24: os_index='zero");
}

}  // namespace
}  // namespace busbar::topo
