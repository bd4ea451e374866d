// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_matrix.hpp"

namespace busbar::topo {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A new driver's answer with one NIC, as it comes through a pipe.
constexpr const char* kTwoGpus =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV4\tPIX\t0-7,16-23\t0\t\tN/A\n"
    "GPU1\tNV4\t X \tSYS\t8-15,24-31\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  PIX  = one bridge at most\n  NV#  = so many NVLinks\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_bond_0\n";

std::string message(const std::string& text) {
  return test::failure_of([&] { (void)parse_smi_matrix(text, "f"); }).message;
}

TEST(ParseSmiMatrix, ReadsANewDriversAnswer) {
  const SmiMatrix matrix = parse_smi_matrix(kTwoGpus, "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(matrix.nics, (std::vector<std::string>{"NIC0"}));
  EXPECT_EQ(matrix.cells, (Rows{{"X", "NV4", "PIX"}, {"NV4", "X", "SYS"}, {"PIX", "SYS", "X"}}));
  EXPECT_EQ(matrix.cpu_affinity, (std::vector<std::string>{"0-7,16-23", "8-15,24-31"}));
  EXPECT_EQ(matrix.numa_affinity, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(nic_name(matrix, 0), "mlx5_bond_0");
  EXPECT_FALSE(matrix.pcie_only);
  EXPECT_TRUE(matrix.notes.empty());
}

TEST(ParseSmiMatrix, MatchesRowsToColumnsByLabel) {
  const SmiMatrix matrix = parse_smi_matrix(
      "\tGPU10\tGPU2\tmlx5_10\tmlx5_2\tCPU Affinity\n"
      "mlx5_2\tPHB\tPIX\tSOC\t X \n"
      "GPU2\tNV1\t X \tSOC\tPIX\t0-1\n"
      "mlx5_10\tNODE\tSOC\t X \tSOC\n"
      "GPU10\t X \tNV1\tNODE\tPHB\t2-3\n",
      "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{2, 10}));
  EXPECT_EQ(matrix.nics, (std::vector<std::string>{"mlx5_2", "mlx5_10"}));
  EXPECT_EQ(matrix.cells, (Rows{{"X", "NV1", "PIX", "SYS"},
                                {"NV1", "X", "PHB", "NODE"},
                                {"PIX", "PHB", "X", "SYS"},
                                {"SYS", "NODE", "SYS", "X"}}));
  EXPECT_EQ(matrix.cpu_affinity, (std::vector<std::string>{"0-1", "2-3"}));
  EXPECT_EQ(matrix.numa_affinity, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(nic_name(matrix, 1), "mlx5_10");
}

TEST(ParseSmiMatrix, SurvivesWhatCopyingAdds) {
  const std::string colours =
      "\t\x1b[4mGPU0\tGPU1\tCPU Affinity\x1b[0m\r\nGPU0\t X \tPHB\t0-3\r\nGPU1\tPHB\t X \t0-3\r\n";
  const std::string lost_escapes =
      "\t[4mGPU0\tGPU1\tCPU Affinity[0m\nGPU0\t X \tPHB\t0-3\nGPU1\tPHB\t X \t0-3\n";
  const std::string comment =
      "# $ nvidia-smi topo -m\n#\tGPU0\tGPU1\tCPU Affinity\n# GPU0\t X \tPHB\t0-3\n#\n"
      "# GPU1\tPHB\t X \t0-3\n";
  const std::string list =
      "   *         GPU0    GPU1    CPU Affinity\n   * GPU0     X      PHB     0-3\n"
      "   * GPU1    PHB      X      0-3\n";
  const std::string prompt =
      "user@host:~$ nvidia-smi topo -m\n> \tGPU0\tGPU1\tCPU Affinity\n> GPU0\tX\tPHB\t0-3\n"
      "> GPU1\tPHB\tX\t0-3\n> Legend:\n>  X = Self\nuser@host:~$";
  for (const std::string& text : {colours, lost_escapes, comment, list, prompt}) {
    const SmiMatrix matrix = parse_smi_matrix(text, "f");
    EXPECT_EQ(matrix.cells, (Rows{{"X", "PHB"}, {"PHB", "X"}})) << text;
    EXPECT_EQ(matrix.cpu_affinity, (std::vector<std::string>{"0-3", "0-3"})) << text;
  }
}

TEST(ParseSmiMatrix, KeepsTheColumnsOfAffinitiesApart) {
  const auto read = [&](const std::string& row) {
    const SmiMatrix matrix =
        parse_smi_matrix("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n" + row, "f");
    return matrix.cpu_affinity[0] + "|" + matrix.numa_affinity[0];
  };
  EXPECT_EQ(read("GPU0\t X \t0-7\t0\t\t9\n"), "0-7|0");
  EXPECT_EQ(read("GPU0\t X \t\t1\t\tN/A\n"), "|1");
  EXPECT_EQ(read("GPU0\t X \t0-7\t\tN/A\t\tN/A\n"), "0-7|");
  EXPECT_EQ(read("GPU0\t X \t1-1\t0,5-11\n"), "1-1|0,5-11");
  EXPECT_EQ(read("GPU0     X      0-7     0               N/A\n"), "0-7|0");
  EXPECT_EQ(read("GPU0     X      0-7\n"), "0-7|");
}

TEST(ParseSmiMatrix, TellsThePcieOnlyFormByItsLegend) {
  const std::string rows = "\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \nLegend:\n  X    = Self\n";
  EXPECT_TRUE(parse_smi_matrix(rows + "  PIX  = Connection ...\n", "f").pcie_only);
  EXPECT_FALSE(parse_smi_matrix(rows + "  PIX  = Connection ...\n  NV#  = Links\n", "f").pcie_only);
  EXPECT_FALSE(parse_smi_matrix(rows + "  PIX = Path traverses ...\n", "f").pcie_only);
  EXPECT_FALSE(parse_smi_matrix(rows, "f").pcie_only);
}

TEST(ParseSmiMatrix, TakesNicsWithoutRowsAndSaysWhatIsUnknown) {
  const SmiMatrix matrix = parse_smi_matrix("\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tSYS\n", "f");
  EXPECT_EQ(matrix.cells, (Rows{{"X", "PIX", "SYS"}, {"PIX", "X", ""}, {"SYS", "", "X"}}));
  ASSERT_EQ(matrix.notes.size(), 1U);
  EXPECT_NE(matrix.notes[0].find("NIC0, NIC1"), std::string::npos);
  EXPECT_TRUE(parse_smi_matrix("\tGPU0\tNIC0\nGPU0\t X \tPIX\n", "f").notes.empty());
}

TEST(ParseSmiMatrix, RefusesDamageWithLineAndColumn) {
  using Damage = std::array<std::string, 3>;  // the text, the place, words of the message
  const std::vector<Damage> damages = {
      {{"", "f:1:1:", "not a matrix"}},
      {{"hello GPU0\n", "f:1:1:", "not a matrix"}},
      {{"\tGPU0\tGPU1\n", "f:1:11:", "0 of 2 GPUs have a row: GPU0, GPU1 are missing"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \tNV1\n", "f:2:13:", "1 of 2 GPUs have a row: GPU1 is"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \nGPU1\tNV1\t X \n", "f:2:8:", "has 1 cells for 2 columns"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \tNV1\nGPU1\tNV2\t X \n",
        "f:3:6:", "GPU1 to GPU0 is NV2, but GPU0 to GPU1 is NV1 in line 2"}},
      {{"\tGPU0\tGPU1\nGPU0\tSYS\tNV1\nGPU1\tNV1\t X \n", "f:2:6:", "GPU0 to GPU0 is SYS"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \t X \nGPU1\t X \t X \n", "f:2:11:", "GPU0 to GPU1 is X"}},
      {{"\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV1\tPXBNODE\n", "f:2:14:", "'PXBNODE'"}},
      {{"\tGPU0\tGPU1\tNIC0\nGPU0\t X \tSYSSYS\n", "f:2:10:", "'SYSSYS'"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \tPH0-115\n", "f:2:10:", "'PH0-115'"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \tNV0\n", "f:2:10:", "'NV0'"}},
      {{"\tGPU0\tGPU1\nGPU0\t X \tXYZ\n", "f:2:10:", "'XYZ'"}},
      {{"\t  GPU0GPU1mlx5_0\tCPU Affinity\nGPU0\t X \tNV1\n", "f:2:1:", "without the line of"}},
      {{"\tGPU0\tGPU1\tNIC0NIC1\nGPU0\t X \tSYS\tSYS\n", "f:1:12:", "column label"}},
      {{"\tGPU0\tmlx5_0mlx5_1\nGPU0\t X \tSYS\tSYS\n", "f:2:14:", "3 cells for 2"}},
      {{"GPU0\t X \tNV1\nGPU1\tNV1\t X \n", "f:1:1:", "without the line of column labels"}},
      {{"\tGPU0\tGPU0\nGPU0\t X \tNV1\n", "f:1:7:", "two columns"}},
      {{"\tGPU0\tGPU1\tGP\nGPU0\t X \tNV1\n", "f:1:12:", "column label"}},
      {{"\tGPU0\tGPU1\tCPU Aff\nGPU0\t X \tNV1\n", "f:1:12:", "cut short"}},
      {{"\tGPU0\nGPU0\t X \nGPU1\tNV1\t X \n", "f:3:1:", "a row but no column"}},
      {{"\tGPU0\nGPU0\t X \tNV1\n", "f:2:10:", "2 cells for 1 columns"}},
      {{"\tGPU0\nGPU0\t X \nGPU0\t X \n", "f:3:1:", "two rows"}},
      {{"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPI\n", "f:3:6:", "'PI'"}},
      {{"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\n", "f:3:9:", "1 cells for 2"}},
      {{"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNI0\tPIX\tX\n", "f:3:1:", "a row but no column"}}};
  for (const auto& [text, place, words] : damages) {
    const std::string what = message(text);
    EXPECT_EQ(what.substr(0, what.find(' ')), place) << what;
    EXPECT_NE(what.find(words), std::string::npos) << what;
    EXPECT_NE(what.find("nvidia-smi topo -m > FILE"), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos);
  }
}

TEST(ParseSmiP2p, ReadsEveryState) {
  const P2pMatrix matrix = parse_smi_p2p(
      " \tGPU0\tGPU1\tGPU2\tGPU3\t\n GPU0\tX\tOK\tCNS\tGNS\t\n GPU1\tOK\tX\tTNS\tNS\t\n"
      " GPU2\tCNS\tTNS\tX\tDR\t\n GPU3\tGNS\tNS\tDR\tX\t\n\nLegend:\n\n  X    = Self\n",
      "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(matrix.cells, (Rows{{"X", "OK", "CNS", "GNS"},
                                {"OK", "X", "TNS", "NS"},
                                {"CNS", "TNS", "X", "DR"},
                                {"GNS", "NS", "DR", "X"}}));
  EXPECT_EQ(parse_smi_p2p("GPU0 GPU1 NIC0\nGPU0 X U NS\nGPU1 U X NS", "f").cells,
            (Rows{{"X", "U"}, {"U", "X"}}));
}

TEST(ParseSmiP2p, ReadsOneGpuColoursAndBlanks) {
  EXPECT_EQ(parse_smi_p2p("        GPU0\nGPU0    X\n", "f").cells.size(), 1U);
  const P2pMatrix matrix =
      parse_smi_p2p(" \t\x1b[4mGPU1\tGPU0\x1b[0m\r\n# GPU1  X  NS\r\n# GPU0  NS  X\r\n", "f");
  EXPECT_EQ(matrix.gpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(matrix.cells[0][1], "NS");
}

TEST(ParseSmiP2p, RefusesDamageWithLineAndColumn) {
  for (const auto& [text, start] : std::vector<std::pair<std::string, std::string>>{
           {" \tGPU0\tGPU1\n GPU0\tX\tOK\n", "f:2:11: 1 of 2 GPUs"},
           {"GPU0 GPU1\nGPU0 X OK\nGPU1 NS X\n", "f:3:6: GPU1 to GPU0 is NS"},
           {"GPU0 GPU1\nGPU0 X OKOK\n", "f:2:8: 'OKOK'"},
           {"GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n", "f:2:8: 'NV2'"},
           {"", "f:1:1: not a matrix"}}) {
    const std::string what =
        test::failure_of([&, &input = text] { (void)parse_smi_p2p(input, "f"); }).message;
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_NE(what.find("nvidia-smi topo -p2p r > FILE"), std::string::npos) << what;
  }
}

TEST(ParseSmiP2p, HasAMeaningForEachCell) {
  EXPECT_EQ(works("OK"), P2p::Works);
  EXPECT_EQ(works("X"), P2p::Works);
  EXPECT_EQ(works("DR"), P2p::Off);
  EXPECT_EQ(works("U"), P2p::Unknown);
}

}  // namespace
}  // namespace busbar::topo
