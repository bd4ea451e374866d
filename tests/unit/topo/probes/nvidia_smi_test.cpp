// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
  std::string ends = R"(printf 'GPU 0: Card\n\t Link 0: Remote Device 00000000:02:00.0: Link 0\n')";
};

/// A folder with a fake nvidia-smi, gone with the object.
class FakeSmi {
 public:
  explicit FakeSmi(const Script& script) {
    std::string pattern = (std::filesystem::temp_directory_path() / "busbar-smi-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path()) << "#!/bin/sh\n"
                          << script.first << "\ncase \"$*\" in\n  --query-gpu=*)\n"
                          << script.query << ";;\n  'topo -m')\n"
                          << script.topo << ";;\n  'topo -p2p r' | 'topo -p2p w')\n"
                          << script.p2p << ";;\n  'nvlink -s')\n"
                          << script.links << ";;\n  'nvlink -R')\n"
                          << script.ends << ";;\n  *) exit 2;;\nesac\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  FakeSmi(const FakeSmi&) = delete;
  FakeSmi& operator=(const FakeSmi&) = delete;
  ~FakeSmi() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path() const { return folder_ + "/nvidia-smi"; }
  [[nodiscard]] SmiProbe probe(Seconds timeout = Seconds{10}) const {
    return probe_nvidia_smi(path(), timeout);
  }

 private:
  std::string folder_{};
};

TEST(ProbeNvidiaSmi, AsksForEverything) {
  const SmiProbe probe = FakeSmi(Script{}).probe();
  EXPECT_EQ(probe.warnings, std::vector<std::string>{});
  ASSERT_EQ(probe.gpus.size(), 2U);
  EXPECT_EQ(probe.gpus[1].bus_id, "0000:02:00.0");
  ASSERT_TRUE(probe.matrix && probe.p2p_read && probe.p2p_write && probe.nvlink && probe.remotes);
  EXPECT_EQ(probe.matrix->cells[0][1], "NV2");
  EXPECT_EQ(probe.p2p_write->cells[0][1], P2pState::Ok);
  EXPECT_EQ(probe.nvlink->gpus.size(), 2U);
  EXPECT_EQ(probe.remotes->gpus[0].links[0].bus_id, "0000:02:00.0");
}

void expect_nothing_but(const SmiProbe& probe, const std::string& words) {
  EXPECT_TRUE(probe.gpus.empty());
  EXPECT_FALSE(probe.matrix || probe.p2p_read || probe.p2p_write || probe.nvlink || probe.remotes);
  ASSERT_EQ(probe.warnings.size(), 1U);
  EXPECT_NE(probe.warnings[0].find(words), std::string::npos) << probe.warnings[0];
}

TEST(ProbeNvidiaSmi, WarnsOnceWhereItIsNotThere) {
  expect_nothing_but(probe_nvidia_smi("/nowhere/nvidia-smi"), "--nvidia-smi PATH");
}

TEST(ProbeNvidiaSmi, WarnsOnceWhereThereIsNoDriverOrNoGpu) {
  const std::string failed = "echo \"NVIDIA-SMI has failed because it couldn't communicate\"\n";
  expect_nothing_but(FakeSmi({.first = failed + "exit 9"}).probe(), "cannot reach the driver");
  expect_nothing_but(FakeSmi({.first = "exit 9"}).probe(), "cannot reach the driver");
  expect_nothing_but(FakeSmi({.first = failed + "exit 0"}).probe(), "cannot reach the driver");
  expect_nothing_but(FakeSmi({.first = "echo No devices were found; exit 6"}).probe(),
                     "finds no GPU");
}

TEST(ProbeNvidiaSmi, GivesUpAfterTheFirstHang) {
  const SmiProbe probe = FakeSmi({.p2p = "sleep 60"}).probe(Seconds{0.5});
  EXPECT_EQ(probe.gpus.size(), 2U);
  EXPECT_TRUE(probe.matrix.has_value());
  EXPECT_FALSE(probe.p2p_read || probe.p2p_write || probe.nvlink || probe.remotes);
  ASSERT_EQ(probe.warnings.size(), 1U);
  EXPECT_NE(probe.warnings[0].find("topo -p2p r gave no answer within 0.5 s"), std::string::npos);
}

TEST(ProbeNvidiaSmi, LeavesOutWhatAnOldDriverDoesNotKnow) {
  const SmiProbe probe = FakeSmi({.p2p = "echo Invalid argument; exit 255"}).probe();
  EXPECT_FALSE(probe.p2p_read || probe.p2p_write);
  EXPECT_TRUE(probe.matrix && probe.nvlink);
  ASSERT_EQ(probe.warnings.size(), 2U);
  EXPECT_NE(probe.warnings[0].find("failed with status 255 (it says: Invalid argument)"),
            std::string::npos);
}

TEST(ProbeNvidiaSmi, AsksADriverWithoutMigAgain) {
  const SmiProbe probe =
      FakeSmi({.query = "case \"$1\" in *mig*) echo 'Field \"mig.mode.current\" is not a valid "
                        "field to query.'; exit 2;; esac\n"
                        "echo '0, GPU-a, Card, 00000000:01:00.0, 3, 16'\n"})
          .probe();
  ASSERT_EQ(probe.gpus.size(), 1U);
  EXPECT_EQ(probe.gpus[0].pcie_width, 16);
  EXPECT_EQ(probe.gpus[0].mig, std::nullopt);
  EXPECT_TRUE(probe.warnings.empty());
}

TEST(ProbeNvidiaSmi, LeavesOutDamagedTextWithItsLineAndColumn) {
  const SmiProbe probe = FakeSmi({.topo = R"(printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\n')"}).probe();
  EXPECT_FALSE(probe.matrix.has_value());
  EXPECT_TRUE(probe.p2p_read.has_value());
  ASSERT_EQ(probe.warnings.size(), 1U);
  EXPECT_NE(probe.warnings[0].find("topo -m:2:13: 1 of 2 GPUs"), std::string::npos);
  EXPECT_NE(probe.warnings[0].find("(left out)"), std::string::npos);
}

TEST(ProbeNvidiaSmi, AsksForNoOtherEndsWithoutLinks) {
  const SmiProbe probe = FakeSmi({.links = "true", .ends = "exit 1"}).probe();
  EXPECT_TRUE(probe.nvlink.has_value());
  EXPECT_FALSE(probe.remotes.has_value());
  EXPECT_TRUE(probe.warnings.empty());
}

TEST(ReadTextFile, NamesTheOptionWhereAFileCannotBeRead) {
  EXPECT_EQ(refusal([] { (void)read_text_file("--smi", "/nowhere/file"); }),
            "--smi: cannot read /nowhere/file: No such file or directory");
  EXPECT_EQ(refusal([] { (void)read_text_file("--smi", "/tmp"); }),
            "--smi: cannot read /tmp: Is a directory");
  EXPECT_EQ(read_text_file("--smi", "/dev/null"), "");
  EXPECT_FALSE(read_text_file("--smi", "/proc/self/status").empty());
}

}  // namespace
}  // namespace busbar::topo
