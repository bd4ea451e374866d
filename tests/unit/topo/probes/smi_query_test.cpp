// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_query.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/probes/refused.hpp"

namespace busbar::topo {
namespace {

std::string message(const std::string& text) {
  return refusal([&] { (void)parse_smi_query(text, "f"); });
}

TEST(ParseSmiQuery, ReadsTheFacts) {
  const auto gpus = parse_smi_query(
      "index, uuid, name, pci.bus_id, pcie.link.gen.max, pcie.link.width.max, mig.mode.current\r\n"
      "0, GPU-a, Tesla V100-SXM2-16GB, 00000000:06:00.0, 3, 16, [N/A]\r\n"
      "1, GPU-b, NVIDIA A, B edition, 00000001:0A:00.0, [Not Supported], [Unknown Error], Enabled\n"
      "2, [N/A], [N/A], 00000000:0B:00.0, 5, 8, Disabled\n",
      "f");
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].index, 0);
  EXPECT_EQ(gpus[0].uuid, "GPU-a");
  EXPECT_EQ(gpus[0].name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(gpus[0].bus_id, "0000:06:00.0");
  EXPECT_EQ(gpus[0].pcie_generation, 3);
  EXPECT_EQ(gpus[0].pcie_width, 16);
  EXPECT_EQ(gpus[0].mig, std::nullopt);
  EXPECT_EQ(gpus[1].name, "NVIDIA A, B edition");
  EXPECT_EQ(gpus[1].bus_id, "0001:0a:00.0");
  EXPECT_EQ(gpus[1].pcie_generation, 0);
  EXPECT_EQ(gpus[1].pcie_width, 0);
  EXPECT_EQ(gpus[1].mig, true);
  EXPECT_EQ(gpus[2].uuid, "");
  EXPECT_EQ(gpus[2].mig, false);
}

TEST(ParseSmiQuery, TakesNoDevicesForNone) {
  EXPECT_TRUE(parse_smi_query("No devices were found\n", "f").empty());
  EXPECT_TRUE(parse_smi_query("", "f").empty());
}

TEST(ParseSmiQuery, PassesOverTheDriversRemarks) {
  EXPECT_EQ(parse_smi_query("0, a, b, 0000:01:00.0, 3, 16, [N/A]\n"
                            "WARNING: infoROM is corrupted at gpu 0000:01:00.0\n",
                            "f")
                .size(),
            1U);
}

TEST(ParseSmiQuery, RefusesDamageWithLineAndColumn) {
  const auto starts = [](const std::string& text, const std::string& start) {
    const std::string what = message(text);
    EXPECT_TRUE(what.starts_with(start)) << what;
  };
  starts("0, a, b, 0000:01:00.0, 3, 1\n", "f:1:27: 6 of 7 columns");
  starts("hello\n", "f:1:1: 1 of 7 columns");
  starts("x, a, b, 0000:01:00.0, 3, 16, [N/A]\n", "f:1:1: 'x' is no number");
  starts("0, a, b, 0000:01, 3, 16, [N/A]\n", "f:1:10: '0000:01' is no PCI address");
  starts("0, a, b, 0000:01:00.0, gen3, 16, [N/A]\n", "f:1:24: 'gen3' is no number");
  starts("0, a, b, 0000:01:00.0, 3, 16, [N/\n", "f:1:31: '[N/' is cut short");
  starts("0, a, b, 0000:01:00.0, 3, 16, Enab\n", "f:1:31: 'Enab' is neither");
  starts("0, a, b, 0000:01:00.0, 3, 16,\n", "f:1:30: an empty cell");
  starts("0, a, b, 0000:01:00.0, 3, 16, [N/A]\n0, a, b, 0000:02:00.0, 3, 16, [N/A]\n",
         "f:2:1: GPU 0 is there twice");
  starts("0, a, b, 0000:01:00.0, 3, 16, [N/A]\n1, a, b, 0000:01:00.0, 3, 16, [N/A]\n",
         "f:2:10: GPUs 0 and 1 have the same PCI address");
  starts("0, a, b, 0000:01:00.0, 3, 16, [N/A]\n" + std::string(kQueryColumns) + "\n", "f:2:1: ");
  starts("index, name\n", "f:1:1: the columns are not index,uuid");
}

}  // namespace
}  // namespace busbar::topo
