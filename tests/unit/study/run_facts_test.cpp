// SPDX-License-Identifier: BSD-3-Clause
#include "study/run_facts.hpp"

#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

FileView view(const Dataset& f) { return {.path = f.path, .facts = f.facts, .records = f.records}; }

Dataset two_gpus() {
  return {.path = "a.csv",
          .facts = {{"hosts", "h1"},
                    {"library", "NCCL 2.29.2"},
                    {"device_set", "0,1"},
                    {"rank_0",
                     "host h1 node 0 numa 0 core 0 processors 1 device 0 bus 0000:07:00.0 uuid "
                     "GPU-1 name NVIDIA H200"},
                    {"rank_1",
                     "host h1 node 0 numa 0 core 1 processors 1 device 1 bus 0000:08:00.0 uuid "
                     "GPU-2 name NVIDIA H200"}},
          .records = {{.ranks = 2, .nodes = 1}}};
}

using ExpectedFacts = std::vector<std::pair<std::string, std::optional<std::string>>>;

void expect_facts(const Dataset& o, const ExpectedFacts& facts) {
  for (const auto& [name, value] : facts) EXPECT_EQ(fact_of(view(o), name), value) << name;
}

TEST(RunFacts, OfRankLinesAreNameAndNumberOfGpus) {
  Dataset o = two_gpus();
  expect_facts(o, {{"gpu", "NVIDIA H200"},
                   {"gpus_per_node", "2"},
                   {"library", "NCCL 2.29.2"},
                   {"driver", std::nullopt},
                   {"nics_per_node", std::nullopt}});
  o.facts["devices"] = "6 x NVIDIA H200";  // of all hosts
  expect_facts(o, {{"gpus_per_node", "2"}});
  o.facts["gpus_per_node"] = "16";  // not only those in use
  o.facts["nics_per_node"] = "8";
  o.facts["driver"] = "550.54.15";
  expect_facts(o, {{"gpus_per_node", "16"}, {"nics_per_node", "8"}, {"driver", "550.54.15"}});
  // An imported log, and one whose list of devices is cut short.
  Dataset log{.facts = {{"devices", "1 x NVIDIA H100 80GB HBM3"}},
              .records = {{.ranks = 16, .nodes = 2}}};
  expect_facts(log, {{"gpu", "NVIDIA H100 80GB HBM3"}, {"gpus_per_node", "8"}});
  log.records.front().nodes = 0;
  expect_facts(log, {{"gpus_per_node", std::nullopt}});
}

TEST(RunFacts, HostsOfUnequalNumbersOfGpusAreNoKnownMachine) {
  Dataset o = two_gpus();
  o.facts["gpus_per_node"] = "4; 8";
  test::expect_failure(Status::Usage, "a.csv reports 4; 8 GPUs",
                       [&] { (void)identity_of(view(o), {}); });
}

TEST(RunFacts, AreOfRowsThatHaveNodesAndOfAllGpus) {
  Dataset o = two_gpus();
  o.records.push_back({.ranks = 8, .nodes = 0});
  o.facts["rank_1"] = "host h1 node 0 device 1 bus 0000:08:00.0 uuid GPU-2 name NVIDIA H100";
  expect_facts(o, {{"gpu", "NVIDIA H100; NVIDIA H200"}});
  for (const char* rank : {"rank_0", "rank_1"}) o.facts[rank] = "host h1 device 0 bus x name ";
  expect_facts(o, {{"gpu", std::nullopt}});
}

TEST(RunFacts, IdentifyTheMachineAndHowManyOfItMeasured) {
  Dataset log{.path = "b.csv",
              .facts = {{"devices", "8 x NVIDIA H100 80GB HBM3"}},
              .records = {{.ranks = 16, .nodes = 0}}};
  const auto none = test::failure_of([&] { (void)identity_of(view(log), {}); });
  EXPECT_EQ(none.message, "auto: b.csv does not report gpus_per_node; name the system");
  log.records = {{.ranks = 8, .nodes = 1}, {.ranks = 16, .nodes = 2}, {.ranks = 8, .nodes = 1}};
  const topo::MachineIdentity machine = identity_of(view(log), {{"machine", "p5.48xlarge"}});
  EXPECT_EQ(machine.gpus, std::vector<std::string>(8, "NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(machine.nodes, 2);
  EXPECT_EQ(machine.product, "p5.48xlarge");
  EXPECT_TRUE(machine.product_given);
  EXPECT_EQ(machine.gpu_links, std::nullopt);
  log.facts["machine"] = "p5.48xlarge";
  EXPECT_FALSE(identity_of(view(log), {{"machine", "p5.48xlarge"}}).product_given);
}

TEST(RunFacts, AreWantedAsAPartNumbersAsTheyAreAndGpusByTheirWholeNames) {
  const std::string hopper = "NVIDIA H100 80GB HBM3";
  struct Case {
    std::string name{};
    std::string reported{};
    std::vector<std::string> wanted{};
    bool matches = false;
  };
  for (const Case& one : std::vector<Case>{
           {"processor", "Intel(R) Xeon Phi(TM) CPU 7250", {"xeon phi"}, true},
           {"library", "NCCL 2.27.3", {"NCCL 2.29"}, false},
           {"library", "NCCL 2.27.3", {"NCCL 2.29", "NCCL 2.27"}, true},
           {"gpus_per_node", "8", {"8"}, true},
           {"gpus_per_node", "18", {"8"}, false},
           {"gpu", hopper, {"NVIDIA H100 80GB HBM3"}, true},
           {"gpu", hopper, {"h100 80gb hbm3"}, true},
           {"gpu", "H200", {"NVIDIA H200"}, true},
           {"gpu", hopper, {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}, true},
           {"gpu", "NVIDIA H100", {"NVIDIA H100 80GB HBM3"}, true},
           {"gpu", "NVIDIA A100", {"NVIDIA H200", "A100-SXM4-40GB"}, true},
           {"gpu", "NVIDIA A10", {"NVIDIA A100-SXM4-40GB"}, false},
           {"gpu", "NVIDIA H100 PCIe", {"H100"}, false},
           {"gpu", "NVIDIA H100 NVL", {"H100"}, false},
           {"gpu", "NVIDIA H100 PCIe", {"NVIDIA H100 80GB HBM3"}, false},
           {"gpu", "NVIDIA H200 NVL", {"NVIDIA H200"}, false},
           {"gpu", "NVIDIA GB200", {"B200"}, false},
           {"gpu", "NVIDIA GB300", {"NVIDIA B300 SXM6 AC"}, false},
           {"gpu", "NVIDIA A100 80GB PCIe", {"A100-SXM4-80GB"}, false},
           {"gpu", "NVIDIA A100-SXM4-80GB", {"NVIDIA A100-SXM4-40GB"}, false},
           {"gpu", "NVIDIA H100; NVIDIA H200", {"NVIDIA H200"}, false},
           {"gpu", "AMD Radeon Graphics", {"AMD Instinct MI355X"}, true},
           {"gpu", "AMD Radeon Graphics; AMD Instinct MI300X", {"AMD Instinct MI355X"}, false},
           {"gpu", "NVIDIA H100; NVIDIA H200", {"NVIDIA H200", "NVIDIA H100"}, true}}) {
    EXPECT_EQ(matches_fact(one.name, one.reported, one.wanted), one.matches)
        << one.reported << " for " << one.wanted[0];
  }
}

TEST(RunFacts, TakeAnAssumptionForAGenericOrShortenedNameOfAGpu) {
  Dataset log{.path = "l.csv", .facts = {{"devices", "8 x AMD Radeon Graphics"}}};
  EXPECT_EQ(fact_of(view(log), "gpu"), "AMD Radeon Graphics");
  EXPECT_EQ(fact_of(view(log), "gpu", {{"gpu", "AMD Instinct MI355X"}}), "AMD Instinct MI355X");
  EXPECT_THAT(
      generic_gpu_note(view(log), "AMD Instinct MI355X"),
      AllOf(HasSubstr("l.csv: 'AMD Radeon Graphics'"), HasSubstr("taken for AMD Instinct MI355X")));
  log.facts["devices"] = "4 x NVIDIA H100";
  const std::string whole = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(fact_of(view(log), "gpu", {{"gpu", whole}}), whole);
  EXPECT_THAT(generic_gpu_note(view(log), whole), HasSubstr("taken for " + whole));
  log.facts["devices"] = "8 x AMD Instinct MI300X";
  EXPECT_EQ(fact_of(view(log), "gpu", {{"gpu", "AMD Instinct MI355X"}}), "AMD Instinct MI300X");
  EXPECT_EQ(generic_gpu_note(view(log), "AMD Instinct MI355X"), "");
}

Record row(Bytes size, double busbw) { return test::study_row(size, busbw, 4); }
Record flagged(Bytes size, const std::string& flags) {
  return with(row(size, 10), &Record::flags, flags);
}

TEST(FileProblems, AreThatItWasCutHasNoValueContradictsItselfOrIsFake) {
  FileProblems none;
  none.add(row(1024, 10));
  EXPECT_THAT(none.lines("/x/a.csv", ""), IsEmpty());
  FileProblems all;
  all.add(flagged(2048, "imported mean bandwidth-differs"));
  all.add(with(flagged(4096, "fake"), &Record::status, RowStatus::Skipped));
  EXPECT_THAT(
      all.lines("/x/a.csv", "cut off: its last line has no end"),
      ElementsAre(
          "a.csv: cut off: its last line has no end", "a.csv: no row with status ok and a time",
          "a.csv: left out, since time and bandwidth of the log contradict each other: 2 KiB",
          "a.csv: from the fake GPU machine of busbar's tests; no figure is real"));
}

}  // namespace
}  // namespace busbar::study
