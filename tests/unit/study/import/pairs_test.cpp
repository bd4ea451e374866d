// SPDX-License-Identifier: BSD-3-Clause
// Matrices of pairs as p2pBandwidthLatencyTest and nvbandwidth print them.

#include "tests/unit/study/import/import_text.hpp"

namespace busbar::study {
namespace {

const std::string kP2p =
    "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n"
    "Device: 0, NVIDIA A100-SXM4-80GB, pciBusID: 7, pciDeviceID: 0, pciDomainID:0\n"
    "Device: 1, NVIDIA A100-SXM4-80GB, pciBusID: f, pciDeviceID: 0, pciDomainID:0\n"
    "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     1\n     1\t     1     1\n"
    "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n"
    "   D\\D     0      1 \n     0 1526.19  11.50 \n     1  12.50 1537.25 \n"
    "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
    "   D\\D     0      1 \n     0 1529.23 250.50 \n     1 270.25 1537.25 \n"
    "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n"
    "   D\\D     0      1 \n     0 1529.23 500.00 \n     1 500.00 1537.25 \n"
    "P2P=Enabled Latency (P2P Writes) Matrix (us)\n"
    "   GPU     0      1 \n     0   2.50   9.50 \n     1   9.50   2.50 \n";

const std::string kNvbandwidth =
    "nvbandwidth Version: v0.6\nBuilt from Git version: v0.6\n\nCUDA Runtime Version: 12040\n\n"
    "n1\nDevice 0: NVIDIA H100 80GB HBM3 (00000000:18:00)\n"
    "Device 1: NVIDIA H100 80GB HBM3 (00000000:2a:00)\n\n"
    "Running host_to_device_memcpy_ce.\n"
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n"
    " 0     55.00     55.10\n\nSUM host_to_device_memcpy_ce 110.10\n\n"
    "Running device_to_device_memcpy_read_ce.\n"
    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n"
    " 0       N/A    390.25\n 1    391.50       N/A\n\n"
    "SUM device_to_device_memcpy_read_ce 781.75\n\n"
    "Running device_to_device_memcpy_write_ce.\n"
    "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n           0         1\n"
    " 0      0.00    380.25\n 1    381.50      0.00\n\n"
    "SUM device_to_device_memcpy_write_ce 761.75\n\n"
    "Running device_to_device_bidirectional_memcpy_read_ce.\n"
    "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)\n           0         1\n"
    " 0       N/A    300.00\n 1    300.00       N/A\n\n";

std::vector<Record> rows_of(const ImportedRows& rows, const std::string& collective) {
  return filtered(rows.records,
                  [&](const Record& record) { return record.collective == collective; });
}
double rate(const ImportedRows& rows, int sender, int receiver) {
  for (const Record& record : rows.records) {
    if (record.sender == sender && record.receiver == receiver) return *record.busbw_GBps;
  }
  return 0;
}

TEST(P2pMatrix, OfBefore2018IsOfReadsAndSmallerCopies) {
  const ImportedRows rows = import(replaced(kP2p, " (P2P Writes) Matrix", " Matrix"));
  EXPECT_DOUBLE_EQ(rate(rows, 1, 0), 250.5);
  EXPECT_EQ(rows.records.front().size, 40'000'000U);
}

TEST(P2pMatrix, IsRefusedByLineWhereARateIsDamaged) {
  const std::string damaged = replaced(kP2p, "250.50", "25x.50");
  EXPECT_THAT(refusal(damaged), HasSubstr("x.log:14: "));
  EXPECT_EQ(import(damaged, {.skip_bad_lines = true}).records.size(), 1U);
}

TEST(P2pMatrix, ThatIsCutOffIsImportedAsFarAsItGoes) {
  const ImportedRows rows = import(kP2p.substr(0, kP2p.find("     1 270.25")));
  EXPECT_EQ(rows.records.size(), 1U);
  EXPECT_EQ(rows.warnings.size(), 3U);
}

TEST(P2pMatrix, IsNotAskedForOfALogThatHasNone) {
  const std::string row = "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0\n";
  EXPECT_THAT(refusal(row, {.matrix = "write"}), HasSubstr("--matrix: x.log has no matrix"));
}

TEST(NvbandwidthMatrix, IsOfWritesAndItsRowSends) {
  const ImportedRows rows = import(kNvbandwidth);
  ASSERT_EQ(rows_of(rows, "sendrecv").size(), 2U);
  EXPECT_DOUBLE_EQ(rate(rows, 0, 1), 380.25);
  EXPECT_DOUBLE_EQ(rate(rows, 1, 0), 381.5);
  EXPECT_EQ(rows.records.front().size, 64 * kMiB);
  EXPECT_EQ(rows.records.front().nodes, 1);
}

TEST(NvbandwidthMatrix, EndsWhereAnotherTestBegins) {
  const std::string other =
      "Running device_local_copy.\nmemcpy local GPU(column) bandwidth (GB/s)\n           0         "
      "1\n 0   1310.00   1312.00\n";
  const std::string end = "SUM device_to_device_memcpy_write_ce";
  const ImportedRows rows = import(replaced(kNvbandwidth, end, other + end));
  EXPECT_EQ(rows_of(rows, "sendrecv").size(), 2U);
}

TEST(NvbandwidthMatrix, StandsInALogBesideNcclTests) {
  const std::string nccl =
      "+ mpirun -np 2 ./all_reduce_perf -b 32M\n# nThread 1 nGpus 1 minBytes 33554432\n"
      "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
      "33554432 8388608 float sum -1 276.88 121.19 121.19 0 277.00 121.13 121.13 0\n"
      "# Avg bus bandwidth    : 121.16\n";
  for (const std::string& text : {kNvbandwidth + nccl, nccl + kNvbandwidth, kP2p + nccl}) {
    const ImportedRows rows = import(text);
    EXPECT_EQ(std::ranges::count(rows.records, "allreduce", &Record::collective), 2) << text;
    EXPECT_EQ(std::ranges::count(rows.records, "sendrecv", &Record::collective), 2) << text;
  }
}

TEST(NvbandwidthMatrix, OfReadsHasTheSenderInItsColumn) {
  const ImportedRows rows = import(kNvbandwidth, {.matrix = "read_ce"});
  EXPECT_DOUBLE_EQ(rate(rows, 1, 0), 390.25);
  EXPECT_DOUBLE_EQ(rate(rows, 0, 1), 391.5);
}

TEST(NvbandwidthMatrix, HasTheSizeOfItsVersionOrTheUsers) {
  const std::string text = replaced(kNvbandwidth, "v0.6", "v0.8");
  EXPECT_EQ(import(text).records.front().size, 512 * kMiB);
  EXPECT_THAT(refusal(text.substr(text.find("Running"))), HasSubstr("give --size"));
  EXPECT_EQ(import(text.substr(text.find("Running")), {.size = kMiB}).records.front().size, kMiB);
}

TEST(NvbandwidthMatrix, OfSeveralNodesCountsThemByTheProcesses) {
  const std::string first = replaced(kNvbandwidth, "Device 0: ", "Process 0 (n1): device 0: ");
  const ImportedRows rows = import(replaced(first, "Device 1: ", "Process 1 (n2): device 0: "));
  EXPECT_EQ(rows_of(rows, "sendrecv").front().nodes, 2);
  EXPECT_EQ(rows_of(rows, "hosttodevice").front().nodes, 1);
  EXPECT_THAT(rows.facts, Contains(testing::Pair("hosts", "n1 n2")));
}

TEST(NvbandwidthMatrix, IsReadFromJsonToo) {
  const std::string text = R"json({"nvbandwidth": {"CUDA Runtime Version": 12080,
    "GPU Device list": ["0: NVIDIA H100 (00000000:18:00): (n1)", "1: NVIDIA H100 (0:2a:00): (n1)"],
    "testcases": [{"name": "device_to_device_memcpy_write_ce", "status": "Passed",
      "bandwidth_description": "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
      "bandwidth_matrix": [["N/A", "380.25"], ["381.5", "N/A"]], "sum": 761.75},
      {"name": "device_to_device_memcpy_read_sm", "status": "Waived"}], "version": "v0.8"}})json";
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 2U);
  EXPECT_DOUBLE_EQ(rate(rows, 0, 1), 380.25);
  EXPECT_EQ(rows.records.front().size, 512 * kMiB);
  EXPECT_THAT(rows.facts, Contains(testing::Pair("devices", "2 x NVIDIA H100")));
  EXPECT_THAT(rows.facts, Contains(testing::Pair("hosts", "n1")));
  EXPECT_THAT(refusal(text.substr(0, 200)), HasSubstr("not nvbandwidth's JSON"));
}

TEST(NvbandwidthMatrix, OfTheHostHasARowForEachGpuOfTheNode) {
  const ImportedRows rows = import(kNvbandwidth);
  const std::vector<Record> copies = rows_of(rows, "hosttodevice");
  ASSERT_EQ(copies.size(), 2U);
  const Record& second = copies.back();
  EXPECT_EQ(std::tuple(second.sender, second.receiver, second.ranks, second.nodes),
            std::tuple(std::nullopt, 1, 2, 1));
  EXPECT_DOUBLE_EQ(second.busbw_GBps.value_or(0), 55.1);
  EXPECT_THAT(rows.facts, Contains(testing::Pair("hosts", "n1")));
}

const std::string kOfOneGpu = R"json({"nvbandwidth": {"error": "oops", "testcases": [
  {"name": "host_to_device_memcpy_sm", "bandwidth_matrix": [["24.5"]]},
  {"name": "device_to_host_memcpy_sm", "bandwidth_matrix": [["25.5"]]},
  {"name": "device_to_host_memcpy_ce", "bandwidth_matrix": [["26.5"]]},
  {"name": "device_to_host_bidirectional_memcpy_ce", "bandwidth_matrix": [["19.5"]]},
  {"name": "all_to_host_memcpy_ce", "bandwidth_matrix": [["9.5"]]},
  {"name": "host_device_latency_sm", "bandwidth_matrix": [["600.5"]]}], "version": "v0.8"}})json";

TEST(NvbandwidthMatrix, OfTheHostIsThatOfTheCopyEngineIfThereIsOne) {
  const ImportedRows rows = import(kOfOneGpu);
  ASSERT_EQ(rows.records.size(), 2U);
  EXPECT_DOUBLE_EQ(rows_of(rows, "hosttodevice").at(0).busbw_GBps.value_or(0), 24.5);
  const Record record = rows_of(rows, "devicetohost").at(0);
  EXPECT_DOUBLE_EQ(record.busbw_GBps.value_or(0), 26.5);
  EXPECT_EQ(std::tuple(record.sender, record.receiver), std::tuple(0, std::nullopt));
  EXPECT_THAT(rows.warnings, Contains(HasSubstr("oops")));
}

TEST(NvbandwidthMatrix, OfTheHostUnderLoadIsTakenByNameAlone) {
  const auto value = [](const std::string& matrix) {
    return import(kOfOneGpu, {.matrix = matrix}).records.at(0).busbw_GBps.value_or(0);
  };
  EXPECT_DOUBLE_EQ(value("device_to_host_bidirectional"), 19.5);
  EXPECT_DOUBLE_EQ(value("all_to_host"), 9.5);
  const std::string other = "Running all_to_host_memcpy_ce.\n           0\n 0     55.00\n";
  EXPECT_THAT(refusal("nvbandwidth Version: v0.8\n" + other),
              HasSubstr("--matrix NAME takes one of all_to_host_memcpy_ce"));
}

TEST(NvbandwidthMatrix, WithACellThatIsNoRateIsRefused) {
  for (const std::string cell : {"\"24.x\"", "\"1e308\"", "\"\"", "24.5", "null", "\"\xff\""}) {
    const std::string message = refusal(replaced(kOfOneGpu, "\"24.5\"", cell));
    EXPECT_THAT(message, testing::AnyOf(HasSubstr("is no rate"), HasSubstr("not nvbandwidth's")));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(NvbandwidthMatrix, OfNothingThatIsImportedIsRefused) {
  EXPECT_THAT(refusal("nvbandwidth Version: v0.8\nRunning device_local_copy.\n 0\n 0 900.00\n"),
              HasSubstr("no matrix of one-way copies"));
}

const std::string kNvloom =
    "nvloom_cli 1.3.0\ngit commit: abc\nBuffer size: 256 MiB\nIteration count: 16\n"
    "Process 0 (n1): device 0: NVIDIA GB200 (00000008:01:00); rackGuid: 12\n"
    "Process 1 (n2): device 0: NVIDIA GB200 (00000009:01:00); rackGuid: 12\n\n"
    "Running bisect_device_to_device_write_sm\n\t0\t\n0->1\t700.25\t\n1->0\t701.25\t\n\n"
    "Running device_to_device_unidir_read_ce_iter_0\n"
    "\t0\t1\t\n0\tN/A\t611.50\t\n1\t612.50\tN/A\t\n\n"
    "Running device_to_device_unidir_write_ce_iter_0\n"
    "\t0\t1\t\n0\tN/A\t801.50\t\n1\t802.50\tN/A\t\n\n"
    "Min device_to_device_unidir_write_ce 801.50 GB/s\n"
    "Running device_to_device_unidir_write_ce_iter_1\n"
    "\t0\t1\t\n0\tN/A\t803.50\t\n1\t804.50\tN/A\t\n\n";

TEST(NvloomMatrix, HasTheSenderInItsColumnAndRunsOfItsRepetitions) {
  const LogFile log = read_log(kNvloom, "x.log", {});
  ASSERT_EQ(log.tables.size(), 2U);
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("left out: device_to_device_unidir_r")));
  const ImportedRows rows = import(kNvloom, {.matrix = "write_ce_iter_0"});
  EXPECT_DOUBLE_EQ(rate(rows, 1, 0), 801.5);
  EXPECT_DOUBLE_EQ(rate(rows, 0, 1), 802.5);
  const Record& row = rows.records.front();
  EXPECT_EQ(std::tuple(row.size, row.nodes, row.operations, row.flags),
            std::tuple(256 * kMiB, 2, 16U, "imported mean one-way-copy time-from-bandwidth"));
  EXPECT_THAT(rows.facts, Contains(testing::Pair("tool", "nvloom 1.3.0")));
}

TEST(P2pMatrix, OfARealLogIsTheLogsOwn) {
  const std::filesystem::path path =
      "../shared/data/p2p_bandwidth/tartan_scale_up_p2p_test_dgx1_ascending.txt";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const ImportedRows rows = import(test::text_of(path));
  EXPECT_EQ(rows.records.size(), 56U);
  EXPECT_DOUBLE_EQ(rate(rows, 1, 0), 18.41);
  EXPECT_DOUBLE_EQ(rate(rows, 5, 0), 9.19);
}

}  // namespace
}  // namespace busbar::study
