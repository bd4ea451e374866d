// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "format/csv_writer.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// A CSV as an executable writes it: one row of 1 MiB.
std::string csv(const std::string& hosts, int nodes, int ranks, const std::string& devices,
                const std::string& collective = "allreduce") {
  const Record record{.collective = collective,
                      .backend = "nccl",
                      .ranks = ranks,
                      .nodes = nodes,
                      .type = "float",
                      .op = "sum",
                      .size = kMiB,
                      .time_median_us = 100,
                      .busbw_GBps = 450,
                      .wrong = 0,
                      .device_set = devices};
  return fmt::format(
      "# configuration: collective={} backend=nccl ranks={} nodes={} groups=none\n# hosts: {}\n{}{}"
      "# finished: 2026-11-21 12:00:00\n",
      collective, ranks, nodes, hosts, csv_header(), csv_row(record));
}

class FileMatching : public ::testing::Test {
 protected:
  FileMatching() {
    one_.add_set("pairs", SetKind::Pairwise);
    one_.set().gpus = "0-7";
    one_.specification.device_sets[1].ranks_per_node = 1;
  }

  std::string write(const std::string& name, const std::string& text) {
    folder_.write(name, text);
    return folder_.path(name);
  }

  std::vector<Observation> observe(const std::vector<std::string>& paths) {
    std::vector<study::FileRows> files;
    for (const std::string& path : paths) files.push_back(study::read_launch(path));
    return observe_files(one_.specification, files, notes_);
  }

  std::string failure_of(const std::string& name, const std::string& text) {
    return file_failure(study::read_launch(write(name, text)).dataset);
  }

  JudgeCase one_{};
  std::vector<std::string> notes_{};

 private:
  test::TemporaryFolder folder_{};
};

/// "set/instance/launch" of each.
std::string described(const std::vector<Observation>& seen) {
  return join_each(seen, " ", [](const Observation& o) {
    return fmt::format("{}/{}/{}", o.device_set, o.instance, o.launch);
  });
}

TEST_F(FileMatching, FilesOfOneNodeAreItsLaunches) {
  const std::string all = "0,1,2,3,4,5,6,7";
  EXPECT_EQ(
      described(observe({write("a.csv", csv("h1", 1, 8, all)), write("b.csv", csv("h1", 1, 8, all)),
                         write("c.csv", csv("h2", 1, 8, all))})),
      "set/h1/0 set/h1/1 set/h2/0");
  EXPECT_TRUE(notes_.empty());
}

TEST_F(FileMatching, APairIsTheSameInstanceInEitherOrder) {
  one_.specification.system.nodes = names(3);
  EXPECT_EQ(described(observe({write("a.csv", csv("h1 h2", 2, 2, "0")),
                               write("b.csv", csv("h2.x.org h1.x.org", 2, 2, "0"))})),
            "pairs/h1+h2/0 pairs/h1+h2/1");
  EXPECT_TRUE(observe({write("c.csv", csv("h1 h2 h3", 3, 3, "0"))}).empty()) << "not in pairs";
  EXPECT_TRUE(observe({write("d.csv", csv("h1", 1, 1, "0"))}).empty()) << "one node is no pair";
}

TEST_F(FileMatching, AFileOfAllNodesIsTheWhole) {
  one_.specification.system.nodes = names(3);
  one_.set() = {.id = "set", .kind = SetKind::Whole, .ranks_per_node = 8};
  const auto seen = observe(
      {write("a.csv", csv("h1 h2 h3", 3, 24, "")), write("b.csv", csv("h1 h2", 2, 16, ""))});
  EXPECT_EQ(described(seen), "set/all/0");
  EXPECT_EQ(seen.at(0).nodes, names(3));
}

TEST_F(FileMatching, WhatFitsNoSetIsNamed) {
  one_.specification.system.nodes = {"h1"};
  EXPECT_THAT(observe({write("few.csv", csv("h1", 1, 4, "0,1,2,3")),
                       write("other.csv", csv("h1", 1, 8, "0,1,2,3,4,5,6,8")),
                       write("kind.csv", csv("h1", 1, 8, "", "alltoall")),
                       write("far.csv", csv("h9", 1, 8, ""))}),
              IsEmpty());
  ASSERT_EQ(notes_.size(), 4U);
  EXPECT_THAT(notes_[0], HasSubstr("few.csv: no device set of the specification wants allreduce "
                                   "of 4 ranks on h1; there is "));
  EXPECT_THAT(notes_[0], HasSubstr("8 ranks on each node"));
  EXPECT_THAT(notes_[2], HasSubstr("alltoall of 8 ranks on h1; no rule is for it"));
  one_.specification.system.nodes = {"h1.a"};
  EXPECT_TRUE(observe({write("domain.csv", csv("h1.b", 1, 8, ""))}).empty());
}

TEST_F(FileMatching, RowsNameTheHostsThatAHeadDoesNot) {
  const std::string row = "allreduce,nccl,2,2,float,sum,0,1048576,ok,100,450,0,0,";
  one_.observations = observe({write(
      "a.csv",
      "# configuration: collective=allreduce\ncollective,backend,ranks,nodes,type,op,in_place,"
      "size_bytes,status,time_median_us,busbw_GBps,wrong,group,hosts,round\n" +
          row + "h1 h2,0\n" + row + "h3 h2,1\n# finished: 2026-11-21 12:00:00\n")});
  ASSERT_EQ(one_.observations.size(), 1U);
  EXPECT_EQ(one_.observations[0].nodes, names(3));
  EXPECT_TRUE(notes_.empty());
  for (const CheckResult& result : one_.judged().verdicts) {
    EXPECT_TRUE(result.rule != "pairs" || result.value == 450) << result.instance;
  }
}

TEST_F(FileMatching, WhatAFileDoesNotSayIsMadeUpOrAssumedAndNoted) {
  one_.observations = observe({write("h200.csv", csv("", 1, 8, "0-7"))});
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("does not name its host: h200 stands for")));
  (void)observe({write("a.csv", csv("", 2, 2, "0"))});
  EXPECT_THAT(notes_.at(1), HasSubstr("a.csv does not name its hosts: a, a 2 stand"));
  one_.specification.system.fingerprint = {{"gpu", {"NVIDIA H200"}}};
  EXPECT_EQ(one_.first().outcome, Outcome::Error);
  one_.assumed = {{"gpu", "NVIDIA H200"}};
  EXPECT_NE(one_.first().outcome, Outcome::Error);
  EXPECT_THAT(one_.judged().head.notes.at(0), HasSubstr("assumed"));
}

TEST_F(FileMatching, NotesAreThoseOfEachFileOnce) {
  const std::string log =
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0\n";
  (void)observe({write("a.log", log), write("b.log", log)});
  EXPECT_THAT(notes_, testing::IsSupersetOf({HasSubstr("a.log:2: after the last row"),
                                             HasSubstr("b.log:2: after the last row")}));
}

TEST_F(FileMatching, AFileWithoutRowsIsALaunchThatFailed) {
  const std::string whole = csv("h1", 1, 8, "");
  std::string head = whole.substr(0, whole.find("\nallreduce,") + 1);
  const auto seen = observe({write("none.csv", head)});
  EXPECT_EQ(described(seen), "set/h1/0");
  EXPECT_EQ(seen.at(0).collective, "allreduce");
  EXPECT_THAT(seen[0].failure, HasSubstr("none.csv: cut off"));
  head.replace(head.find("groups=none"), 11, "groups=rails");
  EXPECT_TRUE(observe({write("rails.csv", head)}).empty()) << "of groups, which no set wants";
}

TEST_F(FileMatching, AFileThatEndsInTheMiddleIsAFailure) {
  const std::string head =
      "# configuration: collective=allreduce backend=mpi ranks=8 nodes=1 groups=none\n# hosts: h1\n"
      "collective,size_bytes,ranks\n";
  const std::string end = "# finished: 2026-11-21 12:00:00\n";
  EXPECT_EQ(failure_of("a.csv", head + "allreduce,1024,8\n" + end), "");
  for (const auto& [rest, token] :
       {std::pair{std::string("allreduce,1024,8\n"), "cut off: the run did not finish"},
        {"allreduce,1024,8\nallreduce,20", "its last line has no end"},
        {end, "no row in it"}}) {
    EXPECT_THAT(failure_of("b.csv", head + rest), HasSubstr(token));
  }
}

TEST_F(FileMatching, AFileThatCannotBeReadEndsIt) {
  std::string unparsable = csv("h1", 1, 8, "");
  unparsable.replace(unparsable.find(",450,"), 5, ",45O,");
  for (const std::string& text : {std::string(), csv_header(), unparsable}) {
    EXPECT_THROW(static_cast<void>(observe({write("bad.csv", text)})), Error) << text;
  }
  EXPECT_THROW(static_cast<void>(observe({"absent.csv"})), Error);
}

}  // namespace
}  // namespace busbar::judge
