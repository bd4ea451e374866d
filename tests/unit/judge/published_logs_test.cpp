// SPDX-License-Identifier: BSD-3-Clause
// Published logs, where they are there, judged by the ready-made specifications.

#include "format/csv_writer.hpp"
#include "judge/fingerprint.hpp"
#include "judge/judge.hpp"
#include "study/import/log.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

const std::filesystem::path kFolder = "../shared/data/nccl_tests_logs";

/// A published log, and the rule of a ready-made specification that judges it; or why none does.
struct PublishedLog {
  std::string file{};
  std::string system{};
  std::string rule{};
  int nodes = 1;
  std::string why{};      ///< of a log that no rule judges
  std::string columns{};  ///< of its rows, where the log does not name them
  Facts assumed{};        ///< what its user adds for `--system auto`: --assume
  std::string found{};    ///< by its GPUs alone, where that is another system
};

constexpr const char* kSmall = "ends below the sizes of its rules";
constexpr const char* kPart = "a part of a node, for which there is no rule";

const std::vector<PublishedLog> kLogs{
    {.file = "a3mega_h100_allreduce_16gpu-2node_lessizzmore",
     .system = "a3-megagpu-8g",
     .rule = "pair-allreduce",
     .nodes = 2,
     .assumed = {{"machine", "a3-megagpu-8g"}}},
    {.file = "abci-a_a100-40gb_allreduce_128gpu-16node_abci2", .why = "no system of ABCI"},
    {.file = "abci-a_a100-40gb_allreduce_16gpu-2node_abci2", .why = "no system of ABCI"},
    {.file = "abci-a_a100-40gb_allreduce_4gpu_abci2", .why = "no system of ABCI"},
    {.file = "abci-v_v100sxm2-16gb_allreduce_128gpu-32node_abci2", .why = "no system of ABCI"},
    {.file = "abci-v_v100sxm2-16gb_allreduce_8gpu-2node_abci2", .why = "no system of ABCI"},
    {.file = "dgx1_tartan_allcoll_1-8gpu_nccl-v1", .why = "rates without sizes"},
    {.file = "dgx1_tartan_allcoll_1-8gpu_nccl-v2", .why = "rates without sizes"},
    {.file = "dgx1v-class_v100sxm2-16gb_allreduce_8gpu", .why = kSmall},
    {.file = "dgx2_all_gather_12gpu_wohlbier", .why = kPart},
    {.file = "dgx2_all_reduce_12gpu_wohlbier", .why = kPart},
    {.file = "dgx2_reduce_12gpu_wohlbier", .why = kPart},
    // A rack is known by its number of hosts, which no one host sees.
    {.file = "gb200_allreduce_128gpu-32node_ocihpcoke",
     .system = "gb200-nvl72-x2",
     .rule = "racks-allreduce",
     .nodes = 32,
     .found = "gb200-tray"},
    {.file = "gb200nvl72_allreduce_1440gpu-20rack_coreweave", .why = "twenty racks"},
    // By the factor of its columns it has 128 ranks; its driver did not know its GPUs by name.
    {.file = "gb200nvl72_allreduce_144gpu-2rack_coreweave",
     .system = "gb200-nvl72-x2",
     .rule = "racks-allreduce",
     .nodes = 32,
     .found = "none"},
    {.file = "h100_allreduce_64gpu-8node_coreweave", .why = "no rule for SHARP"},
    {.file = "h100sxm_all_gather_4gpu_xxrjun", .why = kPart},
    {"h100sxm_all_gather_80gpu-10node_xxrjun", "dgx-h100", "all-ring-ops", 10},
    {.file = "h100sxm_all_reduce_4gpu_xxrjun", .why = kPart},
    {"h100sxm_all_reduce_8gpu_xxrjun", "dgx-h100", "node-allreduce"},
    {.file = "h100sxm_alltoall_4gpu_xxrjun", .why = kPart},
    {"h100sxm_alltoall_80gpu-10node_xxrjun", "dgx-h100", "all-alltoall", 10},
    {.file = "h100sxm_reduce_scatter_4gpu_xxrjun", .why = kPart},
    {"h100sxm_reduce_scatter_80gpu-10node_xxrjun", "dgx-h100", "all-ring-ops", 10},
    {"h100sxm_reduce_scatter_8gpu_xxrjun", "dgx-h100", "node-ring-ops"},
    {.file = "h100sxm_sendrecv_4gpu_xxrjun", .why = kPart},
    {"h100sxm_sendrecv_8gpu_xxrjun", "dgx-h100", "node-ring-ops"},
    {.file = "h200_allreduce_8gpu",
     .system = "hgx-h200",
     .rule = "node-allreduce",
     .assumed = {{"gpu", "NVIDIA H200"}, {"gpus_per_node", "8"}}},
    {"nda100v4_a100-40gb_allgather_8gpu_superbench", "dgx-a100", "node-ring-ops"},
    {"nda100v4_a100-40gb_alltoall_8gpu_superbench", "dgx-a100", "node-ring-ops"},
    {"nda100v4_a100-40gb_broadcast_8gpu_superbench", "dgx-a100", "node-rooted"},
    {"nda100v4_a100-40gb_reduce_8gpu_superbench", "dgx-a100", "node-rooted"},
    {"oci-b4.8_a100-40gb_allreduce_16gpu-2node_ocihpcoke", "dgx-a100", "pair-allreduce", 2},
    {.file = "p4d_a100-40gb_allreduce_8to32gpu_issue-nccl527",
     .system = "p4d",
     .rule = "pair-allreduce",
     .nodes = 2,
     .columns = "nodes size count type redop time algbw busbw error time algbw busbw error",
     .assumed = {{"gpu", "NVIDIA A100-SXM4-40GB"},
                 {"gpus_per_node", "8"},
                 {"machine", "p4d.24xlarge"}}},
    {.file = "p4de_a100-80gb_allreduce_16gpu-2node_awsome",
     .system = "p4d",
     .rule = "pair-allreduce",
     .nodes = 2,
     .assumed = {{"gpu", "NVIDIA A100-SXM4-80GB"},
                 {"gpus_per_node", "8"},
                 {"machine", "p4de.24xlarge"}}},
    {.file = "p5_h100_allreduce_16gpu-2node_awsome-eks", .why = kSmall},
    {.file = "p5_h100_allreduce_16gpu-2node_awsome",
     .system = "p5",
     .rule = "pair-allreduce",
     .nodes = 2,
     .assumed = {{"gpu", "NVIDIA H100 80GB HBM3"},
                 {"gpus_per_node", "8"},
                 {"machine", "p5.48xlarge"}}},
    {.file = "polaris_a100-40gb_all_gather_8gpu-2node_alcf", .why = "no rule over nodes"},
    {.file = "polaris_a100-40gb_all_reduce_8gpu-2node_alcf", .why = "no rule over nodes"},
    {.file = "rtx2080ti_allreduce_8gpu", .why = kSmall},
    {"sophia-dgxa100-40gb_all_gather_16gpu-2node_alcf", "dgx-a100", "pair-floor", 2},
    {"sophia-dgxa100-40gb_alltoall_16gpu-2node_alcf", "dgx-a100", "pair-alltoall", 2},
};

class PublishedLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kFolder)) GTEST_SKIP() << "no logs in " << kFolder;
  }

  /// The rows of the log, at a share of their bandwidth, as a launch of the specification.
  std::vector<Observation> observed(const PublishedLog& log, Specification& specification,
                                    double share = 1) {
    study::LogReading reading;
    if (!log.columns.empty()) reading.columns = *study::columns_of(split_words(log.columns));
    const std::string path = (kFolder / (log.file + ".txt")).string();
    const std::vector<study::LogFile> read{study::read_log(test::text_of(path), path, reading)};
    if (log.columns.empty()) reading.nodes = log.nodes;
    study::ImportedRows rows = study::records_of(read, reading);
    std::erase_if(rows.records, [&](const Record& record) { return record.nodes != log.nodes; });
    Facts facts{rows.facts.begin(), rows.facts.end()};
    std::vector<std::string> nodes = split_words(facts["hosts"]);
    if (static_cast<int>(nodes.size()) != log.nodes) {  // its list is cut short
      nodes.clear();
      for (int i = 0; i < log.nodes; ++i) nodes.push_back("h" + std::to_string(i));
      facts.erase("hosts");
    }
    std::string text;
    for (const auto& [key, value] : facts) text += fmt::format("# {}: {}\n", key, value);
    text += csv_header();
    for (Record& record : rows.records) {
      if (record.busbw_GBps) record.busbw_GBps = *record.busbw_GBps * share;
      text += csv_row(record);
    }
    // What a user of such a log writes: its type, one launch, its data where it checked none.
    specification.system.nodes = nodes;
    specification.run.min_launches = 1;
    const Record& last = rows.records.back();
    if (!last.wrong) specification.run.check_data = false;
    Rule& rule = specification.rules.at(0);
    rule.type = last.type;
    rule.collectives = {last.collective};
    folder_.write("log.csv", text);
    std::vector<std::string> notes;
    const std::vector files{study::read_launch(folder_.path("log.csv"))};
    auto observations = observe_files(specification, files, notes);
    EXPECT_THAT(notes, IsEmpty());
    return observations;
  }

  /// What the rule says of the log at a share of its bandwidth.
  CheckResult judged(const PublishedLog& log, double share) {
    Specification specification = specification_of(log);
    const auto observations = observed(log, specification, share);
    const Acceptance acceptance = judge_all({.specification = specification,
                                             .observations = observations,
                                             .today = "2026-11-21",
                                             .nodes = specification.system.nodes,
                                             .assumed = log.assumed});
    return *std::ranges::max_element(acceptance.verdicts, {}, &CheckResult::outcome);
  }

  /// The system that the log's machine is recognized as, or none.
  std::string recognized(const PublishedLog& log) {
    Specification specification = specification_of(log);
    const auto observations = observed(log, specification);
    try {
      return topo::wanted_system(study::identity_of(observations.at(0).view(), log.assumed)).name;
    } catch (const Error&) {
      return "none";
    }
  }

  static Specification specification_of(const PublishedLog& log) {
    Specification specification = load(log.system, "full");
    std::erase_if(specification.rules, [&](const auto& rule) { return rule.id != log.rule; });
    if (log.found == "none") specification.system.fingerprint.clear();
    return specification;
  }

 private:
  test::TemporaryFolder folder_{};
};

TEST_F(PublishedLogs, AreAllJudgedOrSayWhyNot) {
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") there.insert(entry.path().stem());
  }
  std::set<std::string> known;
  for (const PublishedLog& log : kLogs) {
    known.insert(log.file);
    EXPECT_NE(log.rule.empty(), log.why.empty()) << log.file;
  }
  EXPECT_EQ(known, there);
}

TEST_F(PublishedLogs, OfHealthyMachinesPassAndAtSeventyPercentTheyFail) {
  for (const PublishedLog& log : kLogs) {
    if (log.rule.empty()) continue;
    SCOPED_TRACE(log.file);
    const CheckResult whole = judged(log, 1.0);
    EXPECT_EQ(name(whole.outcome), "PASS") << whole.reason << whole.value.value_or(0);
    const CheckResult less = judged(log, 0.7);
    EXPECT_EQ(name(less.outcome), "FAIL") << less.reason;
  }
}

TEST_F(PublishedLogs, AreRecognized) {
  for (const PublishedLog& log : kLogs) {
    if (log.rule.empty()) continue;
    EXPECT_EQ(recognized(log), log.found.empty() ? log.system : log.found) << log.file;
  }
}

}  // namespace
}  // namespace busbar::judge
