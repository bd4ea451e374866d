// SPDX-License-Identifier: BSD-3-Clause
// What nvidia-smi prints: lines, matrices, NVLinks and the answer to a query.
#include "topo/probes/nvidia_smi.hpp"

#include "tests/unit/topo/probes/tree_text.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

using sample::lines_of;

TEST(CleanLines, LeavesBracketsThatAreNoColours) {
  EXPECT_EQ(clean_lines("[N/A] [0] [12m").at(0).text, "[N/A] [0]");
  EXPECT_EQ(clean_lines("[N/A] [0] [1").at(0).text, "[N/A] [0] [1");
}

TEST(WholeNumber, TakesDigitsOnly) {
  EXPECT_EQ(whole_number("12"), 12);
  for (const char* text : {"", "-1", "+1", "1x", " 1", "12345678901"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST(InQuotes, MakesForeignBytesHarmlessAndBoundsTheLength) {
  EXPECT_EQ(in_quotes("a\x1b\xFF"), "'a?\?'");
  EXPECT_EQ(in_quotes(" ~\x7f"), "' ~?'");
  EXPECT_EQ(in_quotes(std::string(50, 'x')).size(), 45U);
}

using Damages = std::vector<std::pair<std::string, std::string>>;

/// Expects each text refused in a line that begins with its place and so, and names the command.
template <class Parse>
void expect_damages(const Parse& parse, const std::string& command, const Damages& damages) {
  for (const auto& [text, start] : damages) {
    test::expect_failure(Status::Usage, {"f:" + start, command + " > FILE"},
                         [&, &input = text] { (void)parse(input, "f"); });
  }
}

using Rows = std::vector<std::vector<std::string>>;

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
  expect_damages(
      parse_smi_matrix, "nvidia-smi topo -m",
      {{"", "1:1: not a matrix"},
       {"hello GPU0\n", "1:1: not a matrix"},
       {"\tGPU0\tGPU1\n", "1:11: 0 of 2 GPUs have a row: GPU0, GPU1 are missing"},
       {"\tGPU0\tGPU1\nGPU0\t X \tNV1\n", "2:13: 1 of 2 GPUs have a row: GPU1 is"},
       {"\tGPU0\tGPU1\nGPU0\t X \nGPU1\tNV1\t X \n", "2:8: the row of GPU0 has 1 cells for 2"},
       {"\tGPU0\tGPU1\nGPU0\t X \tNV1\nGPU1\tNV2\t X \n",
        "3:6: GPU1 to GPU0 is NV2, but GPU0 to GPU1 is NV1 in line 2"},
       {"\tGPU0\tGPU1\nGPU0\tSYS\tNV1\nGPU1\tNV1\t X \n", "2:6: GPU0 to GPU0 is SYS"},
       {"\tGPU0\tGPU1\nGPU0\t X \t X \nGPU1\t X \t X \n", "2:11: GPU0 to GPU1 is X"},
       {"\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV1\tPXBNODE\n", "2:14: 'PXBNODE'"},
       {"\tGPU0\tGPU1\tNIC0\nGPU0\t X \tSYSSYS\n", "2:10: 'SYSSYS'"},
       {"\tGPU0\tGPU1\nGPU0\t X \tPH0-115\n", "2:10: 'PH0-115'"},
       {"\tGPU0\tGPU1\nGPU0\t X \tNV0\n", "2:10: 'NV0'"},
       {"\tGPU0\tGPU1\nGPU0\t X \tXYZ\n", "2:10: 'XYZ'"},
       {"\t  GPU0GPU1mlx5_0\tCPU Affinity\nGPU0\t X \tNV1\n", "2:1: a row of 'GPU0' without"},
       {"\tGPU0\tGPU1\tNIC0NIC1\nGPU0\t X \tSYS\tSYS\n", "1:12: 'NIC0NIC1' is not a column"},
       {"\tGPU0\tmlx5_0mlx5_1\nGPU0\t X \tSYS\tSYS\n", "2:14: the row of GPU0 has 3 cells for 2"},
       {"GPU0\t X \tNV1\nGPU1\tNV1\t X \n", "1:1: a row of 'GPU0' without the line of column"},
       {"\tGPU0\tGPU0\nGPU0\t X \tNV1\n", "1:7: 'GPU0' has two columns"},
       {"\tGPU0\tGPU1\tGP\nGPU0\t X \tNV1\n", "1:12: 'GP' is not a column label"},
       {"\tGPU0\tGPU1\tCPU Aff\nGPU0\t X \tNV1\n", "1:12: 'CPU' is not a whole heading"},
       {"\tGPU0\nGPU0\t X \nGPU1\tNV1\t X \n", "3:1: 'GPU1' has a row but no column"},
       {"\tGPU0\nGPU0\t X \tNV1\n", "2:10: the row of GPU0 has 2 cells for 1 columns"},
       {"\tGPU0\nGPU0\t X \nGPU0\t X \n", "3:1: GPU0 has two rows"},
       {"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPI\n", "3:6: 'PI'"},
       {"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\n", "3:9: the row of NIC0 has 1 cells for 2"},
       {"\tGPU0\tNIC0\nGPU0\t X \tPIX\nNI0\tPIX\tX\n", "3:1: 'NI0' has a row but no column"}});
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
  EXPECT_EQ(parse_smi_p2p("        GPU0\nGPU0    X\n", "f").cells.size(), 1U);
  EXPECT_EQ(parse_smi_p2p("GPU1 GPU0\nGPU1 X NS\nGPU0 NS X\n", "f").gpus, (std::vector{0, 1}));
}

TEST(ParseSmiP2p, RefusesDamageWithLineAndColumn) {
  expect_damages(parse_smi_p2p, "nvidia-smi topo -p2p r",
                 {{" \tGPU0\tGPU1\n GPU0\tX\tOK\n", "2:11: 1 of 2 GPUs"},
                  {"GPU0 GPU1\nGPU0 X OK\nGPU1 NS X\n", "3:6: GPU1 to GPU0 is NS"},
                  {"GPU0 GPU1\nGPU0 X OKOK\n", "2:8: 'OKOK'"},
                  {"GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n", "2:8: 'NV2'"},
                  {"", "1:1: not a matrix"}});
}

TEST(ParseNvlinkStatus, ReadsSpeedsInactiveLinksAndErrors) {
  const std::vector<GpuFacts> gpus = parse_nvlink_status(
      "GPU 0: NVIDIA Some (PCIe) Card (UUID: GPU-aa-bb)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: <inactive>\n\t Link 2: 25 GB/s\r\n"
      "GPU 1: Old Card\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
      "GPU 3: Old Card\n\t Link 0: 25 GB/s\nGPU 4: Old Card\n"
      "Device does not have or support Nvlink\n",
      "f");
  EXPECT_THAT(lines_of(gpus), ElementsAre("0 GPU-aa-bb NVIDIA Some (PCIe) Card links 26.562 0 25",
                                          "1  Old Card", "3  Old Card links 25", "4  Old Card"));
}

TEST(ParseNvlinkStatus, TakesSilenceForNoNvlink) {
  for (const char* text : {"", "\n \r\n", "NVML: Unable to retrieve it\n"}) {
    EXPECT_TRUE(parse_nvlink_status(text, "f").empty()) << text;
  }
}

TEST(ParseNvlinkStatus, RefusesDamageWithLineAndColumn) {
  const std::string gpu = "GPU 0: A\n";
  expect_damages(
      parse_nvlink_status, "nvidia-smi nvlink -s",
      {{gpu + "\t Link 0: 25.78", "2:3: 'Link 0: 25.78' is not `Link NUMBER: SPEED GB/s`"},
       {gpu + "\t Link 0: 25.781 GB/", "2:3: 'Link 0: 25.781 GB/'"},
       {gpu + "\t Link 0:", "2:3: 'Link 0:'"},
       {gpu + "\t Link 0", "2:3: 'Link 0'"},
       {gpu + "\t Link", "2:3: 'Link'"},
       {gpu + "\t Link 0: <inac", "2:3: 'Link 0: <inac'"},
       {gpu + "\t Link 0: -3 GB/s", "2:3: 'Link 0: -3 GB/s'"},
       {gpu + "\t Link 0: nan GB/s", "2:3: 'Link 0: nan GB/s'"},
       {gpu + "\t Link 0: 100001 GB/s", "2:3: 'Link 0: 100001 GB/s'"},
       {gpu + "\t Link 0, P2P is supported: true\n", "2:3: 'Link 0, P2P"},
       {gpu + "\t [snip]\n", "2:3: '[snip]'"},
       {gpu + gpu, "2:5: GPU 0 appears twice"},
       {gpu + "GPU 1", "2:1: 'GPU 1'"},
       {gpu + "GPU 1: B (UUID: GPU-aa", "2:23: the line is cut short"},
       {gpu + "\t Link 0: 25 GB/s\nGPU 1: A", "3:9: GPU 1 lists 0 links and GPU 0"},
       {"\t Link 0: 25 GB/s\n", "1:3: 'Link 0: 25 GB/s' is not a line of"},
       {"hello\n", "1:1: 'hello' is not a line of"},
       {gpu + "\t Link 0: Remote Device 0000:01:00.0: Link 1\n", "2:3: 'Link 0: Remote"}});
  test::expect_failure(Status::Usage, "another end (nvlink -R)", [&] {
    (void)parse_nvlink_status(gpu + "\t Link 0: Remote Device 0000:01:00.0: Link 1\n", "f");
  });
}

TEST(ParseSmiQuery, ReadsTheFacts) {
  const auto gpus = parse_smi_query(
      "index, uuid, name, pci.bus_id, pcie.link.gen.max, pcie.link.width.max, mig.mode.current\r\n"
      "0, GPU-a, Tesla V100-SXM2-16GB, 00000000:06:00.0, 3, 16, [N/A]\r\n"
      "1, GPU-b, NVIDIA A, B edition, 00000001:0A:00.0, [Not Supported], [Unknown Error], Enabled\n"
      "2, [N/A], [N/A], 00000000:0B:00.0, 5, 8, Disabled\n"
      "3, GPU-d, Tesla T4, [N/A], 3, 16, [N/A]\n",
      "f");
  EXPECT_THAT(lines_of(gpus),
              ElementsAre("0 GPU-a Tesla V100-SXM2-16GB at 0000:06:00.0 PCIe 3 x16",
                          "1 GPU-b NVIDIA A, B edition at 0001:0a:00.0 MIG",
                          "2   at 0000:0b:00.0 PCIe 5 x8 no MIG", "3 GPU-d Tesla T4 PCIe 3 x16"));
}

TEST(ParseSmiQuery, TakesNoDevicesForNoneAndPassesOverTheDriversRemarks) {
  EXPECT_TRUE(parse_smi_query("No devices were found\n", "f").empty());
  EXPECT_TRUE(parse_smi_query("", "f").empty());
  EXPECT_EQ(parse_smi_query("0, a, b, 0000:01:00.0, 3, 16, [N/A]\n"
                            "WARNING: infoROM is corrupted at gpu 0000:01:00.0\n",
                            "f")
                .size(),
            1U);
}

TEST(ParseSmiQuery, RefusesDamageWithLineAndColumn) {
  const std::string sound = "0, a, b, 0000:01:00.0, 3, 16, [N/A]\n";
  expect_damages(parse_smi_query, "--format=csv,noheader",
                 {{"0, a, b, 0000:01:00.0, 3, 1\n", "1:27: 6 of 7 columns"},
                  {"hello\n", "1:1: 1 of 7 columns"},
                  {"x, a, b, 0000:01:00.0, 3, 16, [N/A]\n", "1:1: 'x' is not a number"},
                  {"[N/A], a, b, 0000:01:00.0, 3, 16, [N/A]\n", "1:1: '[N/A]'"},
                  {"0, a, b, 0000:01, 3, 16, [N/A]\n", "1:10: '0000:01'"},
                  {"0, a, b, 0000:01:00.0, gen3, 16, [N/A]\n", "1:24: 'gen3'"},
                  {"0, a, b, 0000:01:00.0, 3, 16, [N/\n", "1:31: '[N/' is cut short"},
                  {"0, a, b, 0000:01:00.0, 3, 16, Enab\n", "1:31: 'Enab' is neither"},
                  {"0, a, b, 0000:01:00.0, 3, 16,\n", "1:30: an empty cell"},
                  {sound + "0, a, b, 0000:02:00.0, 3, 16, [N/A]\n", "2:1: GPU 0 appears twice"},
                  {sound + "1, a, b, 0000:01:00.0, 3, 16, [N/A]\n",
                   "2:10: GPUs 0 and 1 have the same PCI address"},
                  {sound + std::string(kQueryColumns) + "\n", "2:1: "},
                  {"index, name\n", "1:1: the columns are not index,uuid"}});
}

/// What a fake nvidia-smi of two GPUs does; each test changes a part.
struct Script {
  std::string first{};
  std::string query =
      "echo '0, GPU-a, Card, 00000000:01:00.0, 4, 16, Disabled'\n"
      "echo '1, GPU-b, Card, 00000000:02:00.0, 4, 16, Disabled'\n";
  std::string topo = R"(printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n')";
  std::string p2p = R"(printf ' \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n'; echo noise >&2)";
  std::string links =
      R"(printf 'GPU 0: Card\n\t Link 0: 25 GB/s\nGPU 1: Card\n\t Link 0: 25 GB/s\n')";
};

SmiProbe probe(const Script& script, Seconds timeout = Seconds{10}) {
  const test::TemporaryFolder folder;
  folder.write("nvidia-smi", "#!/bin/sh\n" + script.first + "\ncase \"$*\" in\n  --query-gpu=*)\n" +
                                 script.query + ";;\n  'topo -m')\n" + script.topo +
                                 ";;\n  'topo -p2p r')\n" + script.p2p + ";;\n  'nvlink -s')\n" +
                                 script.links + ";;\n  *) exit 2;;\nesac\n");
  const std::string path = folder.path("nvidia-smi");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return probe_nvidia_smi(path, timeout);
}

TEST(ProbeNvidiaSmi, AsksForEverything) {
  const SmiProbe found = probe({});
  EXPECT_EQ(found.warnings, std::vector<std::string>{});
  ASSERT_THAT(found.gpus, SizeIs(2));
  EXPECT_EQ(found.gpus[1].bus_id, "0000:02:00.0");
  ASSERT_TRUE(found.matrix && found.p2p && found.nvlink);
  EXPECT_EQ(found.matrix->cells[0][1], "NV2");
  EXPECT_EQ(found.p2p->cells[0][1], "OK");
  EXPECT_EQ(found.nvlink->size(), 2U);
}

void expect_nothing_but(const SmiProbe& found, const std::string& token) {
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_FALSE(found.matrix || found.p2p || found.nvlink);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr(token)));
}

TEST(ProbeNvidiaSmi, WarnsOnceWhereThereIsNoToolNoDriverOrNoGpu) {
  const std::string failed = "echo \"NVIDIA-SMI has failed because it couldn't communicate\"\n";
  expect_nothing_but(probe_nvidia_smi("/nowhere/nvidia-smi"), "--nvidia-smi PATH");
  expect_nothing_but(probe({.first = failed + "exit 9"}), "cannot reach the driver");
  expect_nothing_but(probe({.first = "exit 9"}), "cannot reach the driver");
  expect_nothing_but(probe({.first = failed + "exit 0"}), "cannot reach the driver");
  expect_nothing_but(probe({.first = "echo No devices were found; exit 6"}), "finds no GPU");
}

TEST(ProbeNvidiaSmi, GivesUpAfterTheFirstHang) {
  const SmiProbe found = probe({.p2p = "sleep 60"}, Seconds{0.5});
  EXPECT_EQ(found.gpus.size(), 2U);
  EXPECT_TRUE(found.matrix.has_value());
  EXPECT_FALSE(found.p2p || found.nvlink);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("topo -p2p r gave no answer within 0.5 s")));
}

TEST(ProbeNvidiaSmi, LeavesOutWhatAnOldDriverDoesNotKnow) {
  const SmiProbe found = probe({.p2p = "echo Invalid argument; exit 255"});
  EXPECT_FALSE(found.p2p.has_value());
  EXPECT_TRUE(found.matrix && found.nvlink);
  EXPECT_THAT(found.warnings,
              ElementsAre(HasSubstr("failed with status 255 (it says: Invalid argument)")));
}

TEST(ProbeNvidiaSmi, AsksADriverWithoutMigAgain) {
  const SmiProbe found =
      probe({.query = "case \"$1\" in *mig*) echo 'Field \"mig.mode.current\" is not a valid "
                      "field to query.'; exit 2;; esac\n"
                      "echo '0, GPU-a, Card, 00000000:01:00.0, 3, 16'\n"});
  EXPECT_THAT(lines_of(found.gpus), ElementsAre("0 GPU-a Card at 0000:01:00.0 PCIe 3 x16"));
  EXPECT_TRUE(found.warnings.empty());
}

TEST(ProbeNvidiaSmi, LeavesOutDamagedTextWithItsLineAndColumn) {
  const SmiProbe found = probe({.topo = R"(printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\n')"});
  EXPECT_FALSE(found.matrix.has_value());
  EXPECT_TRUE(found.p2p.has_value());
  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(HasSubstr("topo -m:2:13: 1 of 2 GPUs"), HasSubstr("(left out)"))));
}

}  // namespace
}  // namespace busbar::topo
