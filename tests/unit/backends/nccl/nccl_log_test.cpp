// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_log.hpp"

#include <cstdlib>

#include "model/nccl_choice.hpp"

namespace busbar {
namespace {

struct LoggedChoice {
  const char* line;
  const char* algorithm;
  const char* protocol;
  std::optional<int> channels{};
};

// From NCCL 2.20, 2.22, 2.23, 2.24, 2.28, 2.30, a later one, 2.27, 2.28, 2.29 and 2.30.
constexpr LoggedChoice kLoggedChoices[] = {
    {"65536 Bytes -> Algo 1 proto 0 time 21.500000", "Ring", "LL"},
    {"1073741824 Bytes -> Algo 4 proto 2 time 4000.250000", "NVLS", "Simple"},
    {"AllGather: 4096 Bytes -> Algo 6 proto 2 time 30.125000", "PAT", "Simple"},
    {"AllReduce: 4096 Bytes -> Algo TREE proto LL128 channel{Lo..Hi}={0..15}", "Tree", "LL128", 16},
    {"Broadcast: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={3..3}", "Ring", "LL", 1},
    {"AllReduce: 1048576 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..23}", "NVLSTree",
     "Simple", 24},
    {"AllReduce: 8 Bytes -> Algo MESH proto LL256 channel{Lo..Hi}={0..1}", "MESH", "LL256", 2},
    {"AllReduce [Symmetric]: 8192 Bytes -> Kernel AllReduce_AGxLLMC_R nchannels 4 nthreads 512",
     "Symmetric", "AGxLLMC_R", 4},
    {"ReduceScatter [Symmetric]: 8192 Bytes -> Kernel ReduceScatter_LD nchannels 8 nthreads 512 "
     "nWorks 1",
     "Symmetric", "LD", 8},
    {"AllGather [Copy Engine]: 8192 Bytes -> cudaMemcpy; CE synchronization with NVLS",
     "CopyEngine", ""},
    {"AlltoAll [Hierarchical CE]: 8 Bytes -> RMA proxy + CE", "HierarchicalCE", ""},
};

TEST(ParseChoice, ReadsTheLineOfEachVersion) {
  for (const LoggedChoice& logged : kLoggedChoices) {
    SCOPED_TRACE(logged.line);
    const auto choice =
        parse_nccl_choice(std::string("node1:411:411 [0] NCCL INFO ") + logged.line + "\n");
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->algorithm, logged.algorithm);
    EXPECT_EQ(choice->protocol, logged.protocol);
    EXPECT_EQ(choice->channels, logged.channels);
  }
}

TEST(ParseChoice, TakesTheLastLineAndSkipsWhatIsNone) {
  EXPECT_FALSE(parse_nccl_choice(""));
  EXPECT_FALSE(
      parse_nccl_choice("a:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo -1 proto -1 time 0"));
  EXPECT_FALSE(parse_nccl_choice("a:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> "));
  EXPECT_FALSE(parse_nccl_choice("8 Bytes -> Algo RING proto LL"));  // no line of NCCL's
  const auto choice = parse_nccl_choice(
      "[2026-11-21 10:00:00] a:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL "
      "channel{Lo..Hi}={0..1}\n"
      "a:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..x}\n"
      "a:1:1 [0] NCCL INFO AllReduce: tuner chunk size 12 exceeds buffer max 8, clamping\n");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, "Tree");
  EXPECT_FALSE(choice->channels);
}

TEST(NcclMark, IsWhereNcclsPartOfALineBegins) {
  EXPECT_EQ(nccl_mark("a:1:1 [0] NCCL INFO Connected"), 10U);
  EXPECT_EQ(nccl_mark("a:1:1 [0] NCCL WARN careful"), 10U);
}

TEST(ParseTransports, ReadsThePartsOfNcclsStart) {
  const LibraryTransports found = parse_nccl_transports(
      "a:1:2 [0] NCCL INFO Init timings - ncclCommInitRankConfig: rank 3 nranks 8 total 55.20 "
      "(kernels 52.31, alloc 0.10, bootstrap 0.04, rest 0.01)\n"
      "a:1:2 [0] NCCL INFO Init timings - ncclCommSplit: rank 3 nranks 4 total 0.20 (kernels "
      "0.00)\n"
      "a:1:2 [0] NCCL INFO Init timings - of another version\n"
      "a:1:2 [0] NCCL INFO Init timings - ncclCommInitRank: rank 3 nranks 8 total 99 (cut sho\n");
  EXPECT_EQ(found.init_s, 55.20);
  EXPECT_STREQ(found.init.data(), "kernels 52.31, alloc 0.10, bootstrap 0.04, rest 0.01");
  EXPECT_EQ(parse_nccl_transports("Init timings - x").init_s, 0);
}

TEST(ParseTransports, NamesTheNetworkAndItsAdaptersOrItsPlugin) {
  const std::string none = "h:1:2 [0] NCCL INFO NET/IB : No device found.\n";
  const std::string adapters =
      "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB "
      "eth0:10.0.0.1<0>\n";
  for (const auto& [log, network] : {
           std::pair{none + adapters, "IB, 2 adapters"},
           {"h:1:2 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>\n", ""},
           {"h:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n", "Socket, 1 adapter"},
           {adapters + "h:1:2 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.13.2-aws\n",
            "aws-ofi-nccl 1.13.2-aws"},
           {none, ""},
       }) {
    EXPECT_STREQ(parse_nccl_transports(log).network.data(), network) << log;
  }
}

TEST(ParseTransports, ReadsLinksOfEveryKind) {
  const LibraryTransports found = parse_nccl_transports(
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
      "a:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[4f000] -> 1[52000] via P2P/direct pointer/read\n"
      "a:1:2 [0] NCCL INFO Channel 00 : 2[2] -> 3[3] via SHM/direct/direct\n"
      "a:1:2 [0] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [send] via NET/AWS Libfabric/0(5)/Shared\n");
  EXPECT_TRUE(found.known);
  EXPECT_FALSE(found.gpudirect);
  EXPECT_FALSE(found.nvls);
  EXPECT_STREQ(found.links.data(), "NET/AWS Libfabric, P2P/CUMEM, P2P/direct pointer, SHM");
}

TEST(ParseTransports, KnowsGpuDirectRdmaAndNvls) {
  const LibraryTransports found = parse_nccl_transports(
      "a:1:2 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3/GDRDMA(PCI)/Shared\n"
      "a:1:2 [0] NCCL INFO CollNet 00/0 : 0 [receive] via COLLNET/SHARP/0\n"
      "a:1:2 [0] NCCL INFO 16 coll channels, 16 collnet channels, 8 nvls channels, "
      "32 p2p channels, 2 p2p channels per peer\n");
  EXPECT_TRUE(found.gpudirect);
  EXPECT_TRUE(found.nvls);
  EXPECT_STREQ(found.links.data(), "COLLNET/SHARP, NET/IB");
  EXPECT_STREQ(found.channels.data(), "16 coll, 8 nvls, 32 p2p");
}

TEST(ParseTransports, ReadsTheChannelsOfNccl214) {
  const LibraryTransports found = parse_nccl_transports(
      "a:1:2 [0] NCCL INFO 24 coll channels, 32 p2p channels, 32 p2p channels per peer\n");
  EXPECT_TRUE(found.known);
  EXPECT_FALSE(found.nvls);
  EXPECT_STREQ(found.channels.data(), "24 coll, 32 p2p");
  EXPECT_FALSE(parse_nccl_transports("").known);
  EXPECT_FALSE(parse_nccl_transports("a:1:2 [0] NCCL INFO Connected all rings\n").known);
}

TEST(ParseTransports, CutsALongListOfLinks) {
  std::string log;
  for (int i = 0; i < 60; ++i) {
    log += fmt::format("a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via NET/plugin{}/0\n", i);
  }
  EXPECT_EQ(std::string(parse_nccl_transports(log).links.data()).size(), 255U);
}

TEST(RealLogs, HaveNoChoiceAtTheLevelAtWhichTheyWereTaken) {
  const std::filesystem::path folder = "../shared/data/nccl_tests_logs";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no logs in " << folder;
  int with_info = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string log = test::text_of(entry.path());
    if (log.find("NCCL INFO ") != std::string::npos) ++with_info;
    EXPECT_FALSE(parse_nccl_choice(log)) << entry.path();
    EXPECT_FALSE(parse_nccl_transports(log).known) << entry.path();
  }
  EXPECT_GT(with_info, 0);
}

std::optional<std::string> conflict(const char* level, const char* file) {
  return nccl_log_conflict(
      [=](const char* name) { return std::string_view(name) == "NCCL_DEBUG" ? level : file; });
}

TEST(LogConflict, IsWhereTheUserReadsTheLog) {
  EXPECT_FALSE(conflict(nullptr, nullptr));
  EXPECT_FALSE(conflict(nullptr, "/tmp/log"));  // NCCL writes none without a level
  EXPECT_FALSE(conflict("version", "/tmp/log"));
  EXPECT_FALSE(conflict("WARN", nullptr));
  EXPECT_TRUE(conflict("WARN", "/tmp/log"));
  EXPECT_TRUE(conflict("INFO", nullptr));
  EXPECT_TRUE(conflict("TRACE", "/tmp/log"));
}

/// NCCL's part: reads its variables, and logs where they say so.
void write_as_nccl() {
  const std::string level = std::getenv("NCCL_DEBUG");
  const std::string path = std::getenv("NCCL_DEBUG_FILE");
  if (level != "INFO" || path.empty()) return;
  std::ofstream(path) << "a:1:1 [0] x.cc:3 NCCL WARN careful\n"
                      << std::getenv("NCCL_DEBUG_SUBSYS") << '\n';
}

const LibraryFunction<void()> kWrite(reinterpret_cast<void*>(write_as_nccl));

class LogOfThisProcess : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(LogOfThisProcess, GivesTheUsersSettingsBackWhileItIsOffAndAtItsEnd) {
  setenv("NCCL_DEBUG", "WARN", 1);
  setenv("NCCL_DEBUG_SUBSYS", "NET", 1);
  {
    NcclLog log(kWrite);
    testing::internal::CaptureStdout();
    log.stop();
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("NCCL WARN careful"));
    EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "WARN");
    EXPECT_STREQ(std::getenv("NCCL_DEBUG_SUBSYS"), "NET");
  }
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(std::getenv("NCCL_DEBUG_FILE"), nullptr);
}

TEST_F(LogOfThisProcess, StaysTheUsersWhereItCannotBeSwitchedBack) {
  setenv("NCCL_DEBUG", "WARN", 1);
  const NcclLog log(LibraryFunction<void()>(nullptr));
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(std::getenv("NCCL_DEBUG_FILE"), nullptr);
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace busbar
