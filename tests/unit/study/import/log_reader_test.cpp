// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/study/import/import_text.hpp"

namespace busbar::study {
namespace {

const std::string kHead =
    R"(# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
# Using devices
#  Rank  0 Group  0 Pid 11 on n1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 12 on n2 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
)";
const std::string kNames =
    R"(#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
)";
const std::string kRow =
    R"(    33554432       8388608     float     sum      -1   276.88  121.19  121.19       0   277.00  121.13  121.13     N/A
)";
const std::string kFoot =
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 121.16 \n"
    "# Collective test concluded: all_reduce_perf\n";

/// Where `old` stands last, `by` stands instead.
std::string with_last(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.rfind(old), old.size(), by);
}

TEST(ReadLog, TakesBothHalvesOfARow) {
  const ImportedRows rows = import(kHead + kNames + kRow + kFoot);
  ASSERT_EQ(rows.records.size(), 2U);
  const Record& out = rows.records[0];
  EXPECT_EQ(std::tuple(out.collective, out.ranks, out.nodes, out.size, out.op),
            std::tuple("allreduce", 2, 2, 33554432U, "sum"));
  EXPECT_FALSE(out.root.has_value());
  EXPECT_FALSE(out.in_place);
  EXPECT_EQ(out.time_median_us, 276.88);
  EXPECT_EQ(out.time_mean_us, 276.88);
  EXPECT_NEAR(out.busbw_GBps.value_or(0), 121.19, 0.005);
  EXPECT_EQ(std::tuple(out.wrong, out.operations, out.warmup_operations, out.flags),
            std::tuple(0U, 20U, 5U, "imported mean"));
  EXPECT_TRUE(rows.records[1].in_place);
  EXPECT_FALSE(rows.records[1].wrong.has_value());
  EXPECT_TRUE(rows.warnings.empty());
}

TEST(LogLines, AreWithoutUpToFourPrefixes) {
  const std::string tag = "[1,0]<stdout>:";
  EXPECT_EQ(log_lines(tag + tag + tag + tag + "x").at(0).text, "x");
  EXPECT_EQ(log_lines(tag + tag + tag + tag + tag + "x").at(0).text, tag + "x");
}

TEST(ReadLog, MarksRowsThatTheLogCountsWrong) {
  const std::string row = with_last(kRow, "      0   277", "1.04858e+06   277");
  const ImportedRows rows = import(kHead + kNames + row + kFoot);
  EXPECT_EQ(rows.records[0].status, RowStatus::Wrong);
  EXPECT_EQ(rows.records[0].wrong, 1048580U);
  EXPECT_EQ(rows.records[1].status, RowStatus::Ok);
  const Record most = import(kHead + kNames + with_last(row, "1.04858e+06", "9e+18")).records[0];
  EXPECT_EQ(std::tuple(most.status, most.wrong),
            std::tuple(RowStatus::Wrong, 1'000'000'000'000'000'000U));
}

TEST(ReadLog, AllowsTheErrorsThatOldVersionsAllow) {
  const auto status = [](const std::string& type, const std::string& error) {
    const ImportedRows rows =
        import(kHead + "# size count type redop time algbw busbw error\n" +
               fmt::format("1024 128 {} sum 1.0 1.02 1.02 {}\n", type, error) + kFoot);
    return rows.records.at(0).status;
  };
  for (const auto& [type, good, bad] : {std::tuple{"half", "9e-03", "2e-02"},
                                        {"bfloat16", "9e-03", "2e-02"},
                                        {"float", "9e-06", "2e-05"},
                                        {"double", "9e-13", "2e-12"},
                                        {"int8", "0e+00", "9e-13"}}) {
    EXPECT_EQ(status(type, good), RowStatus::Ok) << type;
    EXPECT_EQ(status(type, bad), RowStatus::Wrong) << type;
  }
}

TEST(ReadLog, TakesExtraColumnsOfIterationsAndTimestamps) {
  const ImportedRows rows = import(
      kHead +
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
      "33554432 8388608 float sum -1 276.88 121.19 121.19 0 270.1 290.2 289.3 1.5 2026-11-21 "
      "08:34:33\n" +
      kFoot);
  ASSERT_EQ(rows.records.size(), 1U);
  const Record& row = rows.records[0];
  EXPECT_EQ(std::tuple(row.time_min_us, row.time_max_us, row.time_p99_us, row.finished_at),
            std::tuple(270.1, 290.2, 289.3, "2026-11-21 08:34:33"));
}

TEST(ReadLog, TakesTheWallTimeFromTheBandwidthWhereTheTimeIsTheProcessors) {
  const ImportedRows rows = import(kHead +
                                   "# size count type redop root cputime algbw busbw #wrong\n"
                                   "33554432 8388608 float sum -1 3.5 121.19 121.19 0\n" +
                                   kFoot);
  EXPECT_EQ(rows.records[0].enqueue_time_us, 3.5);
  EXPECT_NEAR(rows.records[0].time_median_us.value_or(0), 276.88, 0.02);
  EXPECT_NEAR(rows.records[0].time_mean_us.value_or(0), 276.88, 0.02);
  EXPECT_THAT(rows.records[0].flags, HasSubstr("time-from-bandwidth"));
}

TEST(ReadLog, ImportsWhatIsThereOfALogThatWasCutOff) {
  const ImportedRows rows = import(kHead + kNames + kRow + "    67108864      1677");
  EXPECT_EQ(rows.records.size(), 2U);
  EXPECT_EQ(rows.warnings.size(), 2U);
}

/// A row of an all-reduce on two ranks, which alone verifies such a row in place too.
const std::string kChecked = with_last(kRow, "N/A", "0");

TEST(ReadLog, InfersTheCollectiveAndReportsIt) {
  const ImportedRows rows = import(kNames + kChecked);
  EXPECT_EQ(rows.records[0].collective, "allreduce");
  EXPECT_EQ(rows.records[0].ranks, 2);
  EXPECT_THAT(rows.warnings.at(1), HasSubstr("allreduce alone: redop sum"));  // 0: no footer
  EXPECT_EQ(rows.facts.back().first, "collective_from");
  EXPECT_THAT(rows.facts.back().second, HasSubstr("allreduce by its rows"));
}

TEST(ReadLog, FlagsASingleDamagedRowOfAnInferredCollective) {
  const std::string rows_text =
      kChecked + kChecked + kChecked + with_last(kChecked, "121.13", "921.13");
  const ImportedRows rows = import(kHead.substr(kHead.find('\n') + 1) + kNames + rows_text);
  EXPECT_EQ(rows.records[0].collective, "allreduce");
  EXPECT_THAT(rows.records.back().flags, HasSubstr("bandwidth-differs"));
  EXPECT_NEAR(rows.records.back().busbw_GBps.value_or(0), 121.13, 0.01) << "by its time";
}

TEST(ReadLog, RefusesRanksThatTheBandwidthsContradict) {
  EXPECT_THAT(refusal(kNames + kChecked, {.collective = "all_reduce", .ranks = 8}),
              HasSubstr("--ranks 8"));
  // Two groups of two ranks each, as NCCL_TESTS_SPLIT makes them, are one list.
  const std::string text =
      kHead +
      "#  Rank  2 Group  1 Pid 13 on n1 device  1 [0000:1c:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  3 Group  1 Pid 14 on n2 device  1 [0000:1c:00] NVIDIA H100 80GB HBM3\n" +
      kNames + kRow + kFoot;
  EXPECT_THAT(refusal(text), AllOf(HasSubstr("lists 4 ranks"), HasSubstr("allreduce of 2"),
                                   HasSubstr("--ranks N")));
  EXPECT_EQ(import(text, {.ranks = 2}).records[0].ranks, 2);
}

TEST(ReadLog, TakesSeveralCollectivesOfOneLog) {
  const std::string other =
      "# Collective test starting: broadcast_perf\n# nThread 1 nGpus 1 minBytes 8 warmup iters: 1 "
      "iters: 9\n# Rank  0 Group  0 Pid 1 on n1 device  0 [0] X\n# Rank  1 Group  0 Pid 1 on n1 "
      "device "
      " 1 [0] X\n# size count type redop root time algbw busbw #wrong\n"
      "1000000 250000 float none 0 10.00 100.00 100.00 0\n# Avg bus bandwidth : 100\n";
  const ImportedRows rows = import(kHead + kNames + kRow + kFoot + other);
  ASSERT_EQ(rows.records.size(), 3U);
  const Record& row = rows.records[2];
  EXPECT_EQ(std::tuple(row.collective, row.nodes, row.root), std::tuple("broadcast", 1, 0));
}

TEST(ReadLog, TakesRowsBehindAFooterForAnotherTable) {
  const LogFile log = read_log(kHead + kNames + kRow + kFoot + kRow, "x.log", {});
  ASSERT_EQ(log.tables.size(), 2U);
  EXPECT_EQ(log.tables[0].rows.size(), 1U);
  EXPECT_EQ(log.tables[1].line, 11U);
}

TEST(ReadLog, BeginsATestAtTheLineOfItsVersionWhereNoFooterIsAbove) {
  const std::string version = "# nccl-tests version 2.17.8\n";
  const LogFile log = read_log(kHead + kNames + kRow + version + kNames + kRow, "x.log", {});
  ASSERT_EQ(log.tables.size(), 2U);
  EXPECT_EQ(log.tables[0].tool, "nccl-tests");
  EXPECT_EQ(log.tables[1].tool, "nccl-tests 2.17.8");
}

TEST(ReadLog, RefusesARowThatLacksColumnsThatTheUserGives) {
  const LogReading reading{.columns = split_words("size count type time algbw busbw")};
  EXPECT_THAT(refusal("1024 256 float 1.00 1.02 1.02\n1024 256\n", reading),
              HasSubstr("x.log:2: "));
}

TEST(ReadLog, WarnsWhereTheFootersMeanIsOfOtherRows) {
  const auto warnings_of = [&](const std::string& mean) {
    return import(kHead + kNames + kRow + with_last(kFoot, "121.16", mean)).warnings;
  };
  EXPECT_THAT(warnings_of("90.000"), ElementsAre(HasSubstr("rows are missing")));
  // Of 121.19 and 121.13, each right to 0.005: the mean, 121.16, is right to 0.005 and 1e-5 of it.
  EXPECT_EQ(warnings_of("121.165").size(), 0U);
  EXPECT_EQ(warnings_of("121.168").size(), 1U);
  EXPECT_EQ(warnings_of("121.155").size(), 0U);
  EXPECT_EQ(warnings_of("121.152").size(), 1U);
}

TEST(ReadLog, LeavesBandwidthOutOfRowsWithoutBytesAndOfOneRank) {
  const ImportedRows rows =
      import(kHead + kNames + "0 0 float sum -1 9.05 0.00 0.00 0 9.07 0.00 0.00 0\n");
  EXPECT_FALSE(rows.records[0].busbw_GBps.has_value());
  const ImportedRows one = import("# Rank  0 Group  0 Pid 1 on n1 device  0 [0] X\n" + kNames +
                                      "8 2 float sum -1 9.05 0.00 0.00 0 9 0.00 0.00 0\n",
                                  {.collective = "allreduce"});
  EXPECT_EQ(one.records[0].ranks, 1);
  EXPECT_FALSE(one.records[0].busbw_GBps.has_value());
}

TEST(ReadLog, ReadsOsuAndTurnsPartsIntoWholes) {
  const std::string text =
      "$ mpirun -np 4 ./osu_allgather -f\n# OSU MPI Allgather Latency Test v5.9\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "1024                   10.00              9.00             12.50         100\n";
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 1U);
  const Record& row = rows.records[0];
  EXPECT_EQ(std::tuple(row.collective, row.backend, row.ranks, row.size, row.time_median_us,
                       row.aggregation, row.operations),
            std::tuple("allgather", "mpi", 4, 4096U, 12.5, "max", 100U));
  EXPECT_NEAR(row.busbw_GBps.value_or(0), 4096 / 12.5e3 * 3 / 4, 1e-9);
  const std::string plain =
      "# OSU MPI Allreduce Latency Test v7.3\n# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)\n4       1.96\n";
  EXPECT_THAT(refusal(plain), HasSubstr("--ranks"));
  const ImportedRows reduced = import(plain, {.ranks = 2});
  EXPECT_EQ(reduced.records[0].type, "int8");
  EXPECT_EQ(reduced.records[0].aggregation, "mean");
}

TEST(ReadLog, NamesRowsOfOsuWhoseHeadIsLost) {
  const std::string text =
      "# Size       Avg Latency(us)\n4       1.96\n"
      "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n8       2.50\n";
  EXPECT_THAT(refusal(text, {.ranks = 2}), AllOf(HasSubstr("x.log:2: "), HasSubstr("# OSU")));
  const ImportedRows rows = import(text, {.skip_bad_lines = true, .ranks = 2});
  ASSERT_EQ(rows.records.size(), 1U);
  EXPECT_EQ(rows.records[0].time_median_us, 2.5);
}

TEST(ReadLog, ReadsImbAndPassesOverWhatIsNoCollective) {
  const std::string text =
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# MPI_Datatype for reductions   :   "
      "MPI_FLOAT\n# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] "
      "Mbytes/sec\n"
      "0 1000 0.5 0.0\n# Benchmarking Allreduce\n# #processes = 4\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "         4096         1000         3.00         5.00         4.00\n";
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 1U);
  const Record& row = rows.records[0];
  EXPECT_EQ(std::tuple(row.ranks, row.type, row.time_median_us, row.aggregation),
            std::tuple(4, "float", 5, "max"));
  EXPECT_NEAR(rows.records[0].busbw_GBps.value_or(0), 4096 / 5e3 * 1.5, 1e-9);
  const LogFile log = read_log("# ./IMB-MPI1 Allreduce\n" + text, "x.log", {});
  EXPECT_EQ(log.tables[0].command, "./IMB-MPI1 Allreduce");
  const std::string cut_lines =
      "# Benchmarking \n# MPI_Datatype :\n# All processes entering MPI_Datatype\n# end of "
      "Benchmarks\n";
  EXPECT_EQ(import(cut_lines + text).records[0].type, "float");
  EXPECT_EQ(import(text + cut_lines).facts, rows.facts);
  const std::string broadcast =
      "# MPI_Datatype : MPI_FLOAT\n# MPI_Datatype :\n# Benchmarking Bcast\n# #processes = 4\n"
      "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n4096 1000 3.00 5.00 4.00\n";
  EXPECT_EQ(import("# Intel(R) MPI Benchmarks 2021.3\n" + broadcast).records.at(0).type, "float");
  const std::string untyped = text.substr(0, text.find("# MPI_Datatype"));
  const std::string reduced = text.substr(text.find("# Benchmarking Allreduce"));
  EXPECT_EQ(import(untyped + cut_lines + reduced).records[0].type,
            import(untyped + reduced).records[0].type);
}

TEST(ReadLog, ReadsJsonWithNcclTestsOwnDefects) {
  const std::string text = R"({"version": 3, "args": ["./all_reduce_perf", "-b", "8"],
    "env": ["SECRET=1"], "nccl_version": 22809, "config": {"nthreads": 1, "ngpus": 2,
    "warmup_iters": 1, "iterations": 20, "devices": [{"rank": 0, "hostname": "n1"}]},
    "results": [{"size": 33554432, "count": 8388608, "type": "float", "redop": "sum",
    "root": "    -1", "out_of_place": {"time": 276.88, "alg_bw": 121.187637, "bus_bw": 121.187637,
    "nwrong": 0.000000}, "in_place": {"time": 0.0, "alg_bw": inf, "bus_bw": inf, "nwrong": null}}],
    "end_time": "x"})";
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 2U);
  EXPECT_EQ(rows.records[0].ranks, 2);
  EXPECT_EQ(rows.records[0].nodes, 1);
  EXPECT_EQ(rows.records[0].wrong, 0U);
  EXPECT_FALSE(rows.records[1].busbw_GBps.has_value());
  const LogHalf in_place = read_log(text, "x.log", {}).tables.at(0).rows.at(0).halves.at(1);
  EXPECT_TRUE(in_place.time_us) << "0 is a number";
  EXPECT_FALSE(in_place.busbw_GBps);
  for (const auto& fact : rows.facts) EXPECT_THAT(fact.second, Not(HasSubstr("SECRET")));
  const std::string quoted = with_last(text, "-b", R"(inf \"inf\")");
  EXPECT_EQ(read_log(quoted, "x.log", {}).tables.at(0).command, R"(./all_reduce_perf inf "inf" 8)");
  EXPECT_EQ(import(with_last(text, "SECRET=1", R"(SECRET=1\\)")).records.size(), 2U);
  EXPECT_THAT(refusal(text.substr(0, 300)), HasSubstr("damaged JSON"));
}

TEST(NcclJson, OfVersion3HasCountsAsFloatsAndPercentilesOfIterations) {
  const std::string text =
      R"({"version": 3, "args": ["all_reduce_perf"], "nccl_version": 23100, "config": {"nthreads": 1,
    "ngpus": 2, "per_iter_timing": "true", "devices": [{"rank": 0, "hostname": "n1"}]},
    "results": [{"size": 33554432, "count": 8388608, "type": "float", "redop": "sum",
    "root": "    -1", "out_of_place": {"time": 276.88, "alg_bw": 121.187637, "bus_bw": 121.187637,
    "nwrong": 0.000000}, "out_of_place_per_iter": {"skipped_iterations": 0, "min_us": 270.5,
    "max_us": 301.25, "p50_us": 275.0, "p95_us": 299.0, "p99_us": 300.75, "cv_pct": "nan",
    "times_us": [270.5, 301.25]}, "in_place": {"time": 277.0, "alg_bw": 121.1, "bus_bw": 121.1,
    "nwrong": 5.000000}, "actual_iterations": 20}, {"size": 67108864, "count": 16777216,
    "type": "float", "redop": "sum", "root": "    -1", "out_of_place": null,
    "in_place": {"time": 554.0, "alg_bw": "nan", "bus_bw": "nan", "nwrong": null}}],
    "average_bus_bandwidth": {"bandwidth": 121.14, "okay": "true"}, "end_time": "x"})";
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 3U);
  const Record& first = rows.records[0];
  EXPECT_EQ(std::tuple(first.wrong, first.time_min_us, first.time_max_us, first.time_p99_us),
            std::tuple(0, 270.5, 301.25, 300.75));
  EXPECT_EQ(rows.records[1].status, RowStatus::Wrong);
  EXPECT_EQ(rows.records[2].wrong, std::nullopt);
  EXPECT_TRUE(rows.records[2].in_place);
}

TEST(ReadLog, ReadsASummaryOfRatesWithTheUsersSize) {
  const std::string text =
      "OP,GPU,Bandwidth\nbroadcast_perf,1,1999891.64\nall_gather_perf,4,51.75\n";
  EXPECT_THAT(refusal(text), HasSubstr("--size"));
  const ImportedRows rows = import(text, {.size = kGiB});
  ASSERT_EQ(rows.records.size(), 1U);
  const Record& row = rows.records[0];
  EXPECT_EQ(std::tuple(row.collective, row.ranks, row.size), std::tuple("allgather", 4, kGiB));
  EXPECT_NEAR(row.busbw_GBps.value_or(0), 51.75, 1e-9);
  EXPECT_NEAR(row.time_median_us.value_or(0), 15561.5, 0.1);
  EXPECT_THAT(rows.warnings, ElementsAre(HasSubstr("broadcast of 1 GiB")));
  const auto refused = [&](const std::string& line) {
    return refusal("OP,GPU,Bandwidth\n" + line + "\n", {.size = kGiB});
  };
  EXPECT_THAT(refused("all_gossip_perf,2,1"), HasSubstr("not a collective"));
  EXPECT_THAT(refused("all_gather_perf,two,1"), HasSubstr("a number of GPUs"));
  EXPECT_THAT(refused("all_gather_perf,2,fast"), HasSubstr("a rate"));
  EXPECT_THAT(refused("all_gather_perf,2"), HasSubstr("x.log:2"));
}

TEST(ReadLog, ReadsASummaryOfRatesBySizeWithTheUsersRanks) {
  const std::string text =
      "OP,Packet,Bandwidth\nall_reduce_perf,0,0.00\nall_reduce_perf,8388608,45.75\n";
  EXPECT_THAT(refusal(text), HasSubstr("--ranks"));
  const ImportedRows rows = import(text, {.ranks = 8});
  ASSERT_EQ(rows.records.size(), 1U);
  EXPECT_EQ(rows.records[0].ranks, 8);
  EXPECT_EQ(rows.records[0].size, 8 * kMiB);
  EXPECT_NEAR(rows.records[0].busbw_GBps.value_or(0), 45.75, 1e-9);
  EXPECT_EQ(rows.warnings.size(), 1U);
  EXPECT_THAT(import(with_last(text, "8388608", "1"), {.ranks = 8}).warnings,
              ElementsAre(HasSubstr("of 0 B")))
      << "a byte is some";
}

TEST(ReadLog, RefusesASummaryOfAnotherKindAndAnythingElse) {
  EXPECT_THAT(refusal("test,gpus,GB/s\nall_gather,2,15.95\n"), HasSubstr("summary"));
  EXPECT_THAT(refusal("hello\n"), HasSubstr("no row of a tool"));
  EXPECT_THAT(refusal(""), HasSubstr("no row of a tool"));
}

TEST(LogTable, HasTheRanksOfItsHeadOrOfItsWholeListOfDevices) {
  EXPECT_FALSE(stated_ranks({}).has_value());
  EXPECT_EQ(listed_ranks({.devices = {{.rank = 0}, {.rank = 1}}}), 2);
  EXPECT_EQ(listed_ranks({.ranks = 4, .devices = {{.rank = 0}}}), 4);
  EXPECT_EQ(listed_ranks({.ranks = 1, .devices = {{.rank = 0}, {.rank = 1}}}), 2);
  EXPECT_FALSE(processes_of_command(split_words("mpirun ./all_reduce_perf -n 50")));
  EXPECT_EQ(processes_of_command(split_words("mpirun -np 1 ./a -n 50 : -np 2 ./a -n 50")), 3);
  const LogTable end{.devices = {{.rank = 70}, {.rank = 71}}};
  EXPECT_EQ(stated_ranks(end), 72);
  EXPECT_FALSE(listed_ranks(end).has_value()) << "only its end is left";
}

}  // namespace
}  // namespace busbar::study
