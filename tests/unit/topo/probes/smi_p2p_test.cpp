// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_p2p.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/probes/refused.hpp"

namespace busbar::topo {
namespace {

std::string message(const std::string& text) {
  return refusal([&] { (void)parse_smi_p2p(text, "f"); });
}

TEST(ParseSmiP2p, ReadsEveryState) {
  const P2pMatrix matrix = parse_smi_p2p(
      " \tGPU0\tGPU1\tGPU2\tGPU3\t\n GPU0\tX\tOK\tCNS\tGNS\t\n GPU1\tOK\tX\tTNS\tNS\t\n"
      " GPU2\tCNS\tTNS\tX\tDR\t\n GPU3\tGNS\tNS\tDR\tX\t\n\nLegend:\n\n  X    = Self\n",
      "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(matrix.cells[0],
            (std::vector<P2pState>{P2pState::Self, P2pState::Ok, P2pState::ChipsetNotSupported,
                                   P2pState::GpuNotSupported}));
  EXPECT_EQ(matrix.cells[1],
            (std::vector<P2pState>{P2pState::Ok, P2pState::Self, P2pState::TopologyNotSupported,
                                   P2pState::NotSupported}));
  EXPECT_EQ(matrix.cells[2][3], P2pState::Disabled);
  EXPECT_EQ(parse_smi_p2p("GPU0 GPU1\nGPU0 X U\nGPU1 U X", "f").cells[0][1], P2pState::Unknown);
}

TEST(ParseSmiP2p, ReadsOneGpuColoursAndBlanks) {
  EXPECT_EQ(parse_smi_p2p("        GPU0\nGPU0    X\n", "f").cells.size(), 1U);
  const P2pMatrix matrix =
      parse_smi_p2p(" \t\x1b[4mGPU1\tGPU0\x1b[0m\r\n# GPU1  X  NS\r\n# GPU0  NS  X\r\n", "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(matrix.cells[0][1], P2pState::NotSupported);
}

TEST(ParseSmiP2p, RefusesDamageWithLineAndColumn) {
  EXPECT_TRUE(message(" \tGPU0\tGPU1\n GPU0\tX\tOK\n").starts_with("f:2:11: 1 of 2 GPUs"));
  EXPECT_TRUE(
      message("GPU0 GPU1\nGPU0 X OK\nGPU1 NS X\n").starts_with("f:3:6: GPU1 to GPU0 is NS"));
  EXPECT_TRUE(message("GPU0 GPU1\nGPU0 X OKOK\n").starts_with("f:2:8: cells have run together"));
  EXPECT_TRUE(message("GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n").starts_with("f:2:8: 'NV2'"));
  EXPECT_NE(message("").find("nvidia-smi topo -p2p r > FILE"), std::string::npos);
}

TEST(P2pState, HasLabelsWordsAndAMeaning) {
  EXPECT_EQ(label(P2pState::ChipsetNotSupported), "CNS");
  EXPECT_EQ(words(P2pState::ChipsetNotSupported), "the chipset does not support it");
  EXPECT_EQ(label(P2pState::Unknown), "U");
  EXPECT_EQ(works(P2pState::Ok), P2p::Works);
  EXPECT_EQ(works(P2pState::Self), P2p::Works);
  EXPECT_EQ(works(P2pState::Disabled), P2p::Off);
  EXPECT_EQ(works(P2pState::Unknown), P2p::Unknown);
}

}  // namespace
}  // namespace busbar::topo
