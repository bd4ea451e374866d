// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/file_rows.hpp"

namespace busbar::study {
namespace {

/// A test on two GPUs of a host, one row, with a head and a footer.
std::string test_on(const std::string& host, const char* size = "33554432",
                    const char* time_us = "276.88") {
  return fmt::format(
      "# nThread 1 nGpus 2 minBytes {0} maxBytes {0} step: 2(factor) warmup iters: 5 iters: 20\n"
      "#  Rank  0 Group  0 Pid 11 on {1} device  0 [0000:1b:00] NVIDIA H100\n"
      "#  Rank  1 Group  0 Pid 11 on {1} device  1 [0000:1c:00] NVIDIA H100\n"
      "# size count type redop root time algbw busbw #wrong\n"
      "{0} 8388608 float sum -1 {2} 121.19 121.19 0\n"
      "# Avg bus bandwidth : 121.19\n",
      size, host, time_us);
}
const std::string kTest = test_on("n1");
const std::string kSmaller = test_on("n1", "16777216", "138.44");
const std::string kProgram = "./all_reduce_perf -b 32M\n";

/// "setting/launch: tables" of each.
std::string launches(const std::string& text) {
  const LogReading reading{.skip_bad_lines = true, .collective = "allreduce", .ranks = 2};
  return join_each(launches_of(std::array{read_log(text, "x.log", reading)}, reading), ", ",
                   [](const auto& one) {
                     return fmt::format("{}/{}: {}", one.setting, one.number,
                                        one.logs.front().tables.size());
                   });
}

TEST(LaunchesOf, AreOneWhereNoRowComesAgain) {
  EXPECT_EQ(
      launches("NCCL_ALGO=Ring " + kProgram + kTest + "NCCL_ALGO=Tree " + kProgram + kSmaller),
      "/1: 2");
}

TEST(LaunchesOf, AreApartByTheVariablesInWhichTheyDiffer) {
  const std::string twice = kTest + "+ NCCL_DEBUG=INFO NCCL_ALGO=Ring " + kProgram + kTest;
  EXPECT_EQ(launches("+ NCCL_DEBUG=INFO " + kProgram + twice), "/1: 1, NCCL_ALGO=Ring/1: 1");
  const std::string logged = "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to ";
  const std::size_t head = kTest.find("# size");
  const auto test_with = [&](const std::string& value) {
    return kTest.substr(0, head) + logged + value + '\n' + kTest.substr(head);
  };
  EXPECT_EQ(launches(test_with("Ring") + test_with("Tree")),
            "NCCL_ALGO=Ring/1: 1, NCCL_ALGO=Tree/1: 1");
}

TEST(LaunchesOf, AreLaunchesOfOneSettingWhereTheCommandIsTheSame) {
  EXPECT_EQ(launches(kProgram + kTest + kProgram + kTest), "/1: 1, /2: 1");
  // What other sizes measured belongs to the first launch that has none of its rows.
  EXPECT_EQ(launches(kProgram + kTest + kProgram + kTest + kProgram + kSmaller), "/1: 2, /2: 1");
}

TEST(LaunchesOf, AreNumberedWhereCommandsHostsOrLibrariesDiffer) {
  const std::string numbered = "run1/1: 1, run2/1: 1";
  EXPECT_EQ(
      launches("./all_reduce_perf -b 8 -G 0\n" + kTest + "./all_reduce_perf -b 9 -G 1\n" + kTest),
      numbered);
  EXPECT_EQ(launches(kTest + kProgram + kTest), numbered);
  EXPECT_EQ(launches("=== A ===\n" + kTest + "=== B ===\n" + kTest), numbered);
  EXPECT_EQ(launches(kTest + test_on("n2")), numbered);
  EXPECT_EQ(launches(kProgram + kTest + kProgram + test_on("n2")), numbered);
  EXPECT_EQ(launches("NCCL version 2.27.7\n" + kTest + "NCCL version 2.28.9\n" + kTest), numbered);
  const std::string ring = "NCCL_HOSTID=a NCCL_ALGO=Ring ./all_reduce_perf -b 32M";
  EXPECT_EQ(launches(ring + '\n' + kTest + ring + " -G 1\n" + kTest + kProgram + kTest),
            "NCCL_ALGO=Ring run1/1: 1, NCCL_ALGO=Ring run2/1: 1, /1: 1");
}

TEST(LaunchesOf, AreNumberedWhereNothingTellsThemApart) {
  EXPECT_EQ(launches(kTest + kTest), "run1/1: 1, run2/1: 1");
  // Rows alone, as grep leaves them.
  const std::string row =
      "33554432 8388608 float sum -1 276.88 121.19 121.19 0 276.9 121.2 121.2 0\n";
  EXPECT_EQ(launches(row + row), "run1/1: 1, run2/1: 1");
  // Several small sizes of one test are rounded down to 0.
  const std::string none = "0 0 float sum -1 9.05 0.00 0.00 0 9.07 0.00 0.00 0\n";
  EXPECT_EQ(launches(none + none + row + row), "run1/1: 1, run2/1: 1");
}

TEST(LaunchesOf, ARealSweepAreItsThreeAlgorithms) {
  const std::filesystem::path path = "../shared/data/journey2/sweep.log";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  std::vector<std::string> settings;
  for (const FileRows& launch : read_launches(path)) settings.push_back(launch.setting);
  EXPECT_EQ(settings_text(settings), "NCCL_ALGO=NVLS, NCCL_ALGO=Ring, NCCL_ALGO=Tree");
  test::expect_failure(Status::Usage, "3 runs", [&] { (void)read_launch(path); });
}

}  // namespace
}  // namespace busbar::study
