// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {
namespace {

TEST(ParseSmiQuery, ReadsTheFacts) {
  const auto gpus = parse_smi_query(
      "index, uuid, name, pci.bus_id, pcie.link.gen.max, pcie.link.width.max, mig.mode.current\r\n"
      "0, GPU-a, Tesla V100-SXM2-16GB, 00000000:06:00.0, 3, 16, [N/A]\r\n"
      "1, GPU-b, NVIDIA A, B edition, 00000001:0A:00.0, [Not Supported], [Unknown Error], Enabled\n"
      "2, [N/A], [N/A], 00000000:0B:00.0, 5, 8, Disabled\n"
      "3, GPU-d, Tesla T4, [N/A], 3, 16, [N/A]\n",
      "f");
  ASSERT_EQ(gpus.size(), 4U);
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
  EXPECT_EQ(gpus[3].bus_id, "");
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
  const std::string sound = "0, a, b, 0000:01:00.0, 3, 16, [N/A]\n";
  for (const auto& [text, start] : std::vector<std::pair<std::string, std::string>>{
           {"0, a, b, 0000:01:00.0, 3, 1\n", "f:1:27: 6 of 7 columns"},
           {"hello\n", "f:1:1: 1 of 7 columns"},
           {"x, a, b, 0000:01:00.0, 3, 16, [N/A]\n", "f:1:1: 'x' is not a number"},
           {"[N/A], a, b, 0000:01:00.0, 3, 16, [N/A]\n", "f:1:1: '[N/A]'"},
           {"0, a, b, 0000:01, 3, 16, [N/A]\n", "f:1:10: '0000:01'"},
           {"0, a, b, 0000:01:00.0, gen3, 16, [N/A]\n", "f:1:24: 'gen3'"},
           {"0, a, b, 0000:01:00.0, 3, 16, [N/\n", "f:1:31: '[N/' is cut short"},
           {"0, a, b, 0000:01:00.0, 3, 16, Enab\n", "f:1:31: 'Enab' is neither"},
           {"0, a, b, 0000:01:00.0, 3, 16,\n", "f:1:30: an empty cell"},
           {sound + "0, a, b, 0000:02:00.0, 3, 16, [N/A]\n", "f:2:1: GPU 0 appears twice"},
           {sound + "1, a, b, 0000:01:00.0, 3, 16, [N/A]\n",
            "f:2:10: GPUs 0 and 1 have the same PCI address"},
           {sound + std::string(kQueryColumns) + "\n", "f:2:1: "},
           {"index, name\n", "f:1:1: the columns are not index,uuid"}}) {
    const std::string what =
        test::failure_of([&, &input = text] { (void)parse_smi_query(input, "f"); }).message;
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_NE(what.find("--format=csv,noheader > FILE"), std::string::npos) << what;
  }
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

void expect_warning(const SmiProbe& probe, std::size_t number, const std::string& token) {
  ASSERT_GT(probe.warnings.size(), number);
  EXPECT_NE(probe.warnings[number].find(token), std::string::npos) << probe.warnings[number];
}

TEST(ProbeNvidiaSmi, AsksForEverything) {
  const SmiProbe found = probe({});
  EXPECT_EQ(found.warnings, std::vector<std::string>{});
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_EQ(found.gpus[1].bus_id, "0000:02:00.0");
  ASSERT_TRUE(found.matrix && found.p2p && found.nvlink);
  EXPECT_EQ(found.matrix->cells[0][1], "NV2");
  EXPECT_EQ(found.p2p->cells[0][1], "OK");
  EXPECT_EQ(found.nvlink->size(), 2U);
}

void expect_nothing_but(const SmiProbe& found, const std::string& token) {
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_FALSE(found.matrix || found.p2p || found.nvlink);
  EXPECT_EQ(found.warnings.size(), 1U);
  expect_warning(found, 0, token);
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
  EXPECT_EQ(found.warnings.size(), 1U);
  expect_warning(found, 0, "topo -p2p r gave no answer within 0.5 s");
}

TEST(ProbeNvidiaSmi, LeavesOutWhatAnOldDriverDoesNotKnow) {
  const SmiProbe found = probe({.p2p = "echo Invalid argument; exit 255"});
  EXPECT_FALSE(found.p2p.has_value());
  EXPECT_TRUE(found.matrix && found.nvlink);
  EXPECT_EQ(found.warnings.size(), 1U);
  expect_warning(found, 0, "failed with status 255 (it says: Invalid argument)");
}

TEST(ProbeNvidiaSmi, AsksADriverWithoutMigAgain) {
  const SmiProbe found =
      probe({.query = "case \"$1\" in *mig*) echo 'Field \"mig.mode.current\" is not a valid "
                      "field to query.'; exit 2;; esac\n"
                      "echo '0, GPU-a, Card, 00000000:01:00.0, 3, 16'\n"});
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].pcie_width, 16);
  EXPECT_EQ(found.gpus[0].mig, std::nullopt);
  EXPECT_TRUE(found.warnings.empty());
}

TEST(ProbeNvidiaSmi, LeavesOutDamagedTextWithItsLineAndColumn) {
  const SmiProbe found = probe({.topo = R"(printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\n')"});
  EXPECT_FALSE(found.matrix.has_value());
  EXPECT_TRUE(found.p2p.has_value());
  EXPECT_EQ(found.warnings.size(), 1U);
  expect_warning(found, 0, "topo -m:2:13: 1 of 2 GPUs");
  expect_warning(found, 0, "(left out)");
}

}  // namespace
}  // namespace busbar::topo
