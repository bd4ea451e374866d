// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/journal.hpp"

#include <sys/stat.h>

#include "format/csv_writer.hpp"

namespace busbar::judge {
namespace {

Observation line_of_pair() {
  return {.device_set = "pairs",
          .instance = "h0+h1",
          .nodes = {"h0", "h1"},
          .launch = 2,
          .attempt = 1,
          .purpose = Purpose::Rerun,
          .collective = "alltoall",
          .file = "001.csv",
          .failure = "exit 4: said \"no, never\"",
          .exit_code = 4,
          .seconds = 1.5,
          .command = "mpiexec -hosts h0,h1 x",
          .unreachable = "h1"};
}

/// A CSV with one row.
std::string csv() {
  return csv_header() + csv_row({.collective = "alltoall", .backend = "mpi", .ranks = 2});
}

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return folder_.path(name);
  }
  std::string refusal(const std::string& text) const {
    return test::refusal_of([&] { static_cast<void>(load_journal(write("launches.csv", text))); });
  }
  /// Adds a launch.
  void add(const std::string& file, const std::string& failure = {}, int group = -1) {
    Observation line = line_of_pair();
    line.file = file;
    line.failure = failure;
    line.group = group;
    line.instance += std::to_string(head_.lines.size());
    head_.lines.push_back(line);
  }
  std::vector<Observation> observed() const {
    std::string text = journal_head(head_);
    for (const Observation& line : head_.lines) text += journal_row(line);
    return load_journal(write("launches.csv", text)).lines;
  }

  test::TemporaryFolder folder_;
  RunJournal head_{.specification = "a spec.toml",
                   .profile = "quick",
                   .rules = {"a rule", "b"},
                   .seed = "7",
                   .nodes = {"h0", "h1"}};
};

TEST_F(JournalTest, IsReadBackAsItWasWritten) {
  Observation rail = line_of_pair();
  rail.group = 3;
  const std::string pair_row = journal_row(line_of_pair());
  EXPECT_EQ(pair_row,
            "pairs,h0+h1,h0 h1,,2,1,rerun,alltoall,001.csv,\"exit 4: said \"\"no, never\"\"\",4,"
            "1.500,\"mpiexec -hosts h0,h1 x\",h1\n");
  const std::string text = journal_head(head_) + pair_row + journal_row(rail);
  const RunJournal journal = load_journal(write("launches.csv", text));
  EXPECT_EQ(journal.specification, "a spec.toml");
  EXPECT_THAT(journal.rules, ElementsAre("a rule", "b"));
  EXPECT_EQ(journal_head(journal) + join_each(journal.lines, "",
                                              [](Observation line) {
                                                line.file = fs::path(line.file).filename();
                                                return journal_row(line);
                                              }),
            text);
}

TEST_F(JournalTest, LeavesNoFolderOfARunThatCannotBegin) {
  RunJournal head = head_;
  head.levels = std::string(8192, 'x');
  const std::string path = folder_.path("run");
  test::expect_failure(Status::Runtime, "cannot write", [&] {
    const test::SmallDisk full(4096);
    const RunFolder folder(path, head, "[run]\n", false);
  });
  EXPECT_FALSE(fs::exists(path));
  const RunFolder again(path, head, "[run]\n", true);  // --resume
  EXPECT_TRUE(fs::exists(again.journal_path()));
}

TEST_F(JournalTest, RefusesWithFileAndLine) {
  EXPECT_THAT(refusal("collective,backend\n"), HasSubstr("launches.csv:1: not a journal"));
  std::string old = journal_head(head_);
  old.erase(old.find(",unreachable\n"), 12);
  EXPECT_THAT(refusal(old), HasSubstr("of version 0.1"));
  EXPECT_THAT(refusal(""), HasSubstr("not a journal"));
  const std::string head = journal_head(head_);
  EXPECT_THAT(refusal(head + "a,b\n"), HasSubstr("launches.csv:8: 2 cells"));
  EXPECT_THAT(refusal(head + "a,b,c,,0,0,guess,x,,,0,0,,\n"), HasSubstr("'guess' for the purpose"));
  EXPECT_THAT(refusal(head + "a,\"b\n"), HasSubstr("a quote is not closed"));
  Observation line = line_of_pair();
  const auto twice = [&] { return refusal(head + journal_row(line) + journal_row(line)); };
  EXPECT_THAT(twice(), HasSubstr("launches.csv:9: 001.csv is of a launch"));
  line.group = 1;
  EXPECT_THAT(twice(), HasSubstr("launches.csv:9: 001.csv"));
  line.file = "../../etc/passwd";
  EXPECT_THAT(refusal(head + journal_row(line)), HasSubstr("launches.csv:8: the file ../../etc"));
  EXPECT_EQ(mkfifo(folder_.path("fifo").c_str(), 0600), 0);
  EXPECT_THROW((void)load_journal(folder_.path("fifo")), Error);
}

TEST_F(JournalTest, ObservesAMissingFileAsAFailureAndKeepsTheRowsOfALaunchThatFailed) {
  for (const char* name : {"good.csv", "part.csv", "rails.csv"}) write(name, csv());
  add("good.csv");
  for (const int group : {0, 1}) add("gone.csv", "", group);
  add("");
  add("part.csv", "timeout after 120 s");
  for (const int group : {0, 1}) add("rails.csv", "", group);
  const std::vector<Observation> seen = observed();
  ASSERT_EQ(seen.size(), 7U);
  EXPECT_EQ(mapped(seen, [](const Observation& one) { return one.records.size(); }),
            (std::vector<std::size_t>{1, 0, 0, 0, 1, 1, 1}))
      << "both rails have the rows";
  EXPECT_EQ(seen[0].failure, "");
  EXPECT_THAT(seen[1].failure, HasSubstr("gone.csv"));
  EXPECT_EQ(seen[2].failure, seen[1].failure) << "two rails of one launch";
  EXPECT_EQ(seen[3].failure, "the journal names no file");
  EXPECT_EQ(seen[4].failure, "timeout after 120 s");
  EXPECT_EQ(seen[6].group, 1);
  EXPECT_EQ(seen[6].file, seen[5].file);
}

class RunFolderTest : public testing::Test {
 protected:
  test::TemporaryFolder parent_;
  std::string path_ = parent_.path("run");
  LaunchJob rails_{.device_set = "my rails",
                   .instances = {{.name = "rail 0", .nodes = {"a", "b"}, .group = 0},
                                 {.name = "rail 1", .nodes = {"a", "b"}, .group = 1}},
                   .collective = "alltoall"};
};

TEST_F(RunFolderTest, HasALaunchsLinesOnDiskBeforeTheNext) {
  RunFolder folder(path_, {.seed = "3"}, "schema = 1\n");
  folder.add(1, rails_, {.csv = csv(), .log = "said\n", .seconds = 2});
  for (const RunJournal& journal : {load_journal(folder.journal_path()), folder.journal()}) {
    ASSERT_EQ(journal.lines.size(), 2U);
    EXPECT_EQ(journal.lines[1].group, 1);
    EXPECT_EQ(journal.lines[1].file, path_ + "/001-my-rails-rails-alltoall.csv");
    EXPECT_EQ(journal.lines[1].failure, "");
    EXPECT_EQ(journal.lines[1].records.at(0).ranks, 2);
  }
  EXPECT_TRUE(fs::exists(path_ + "/001-my-rails-rails-alltoall.csv"));
  EXPECT_TRUE(fs::exists(path_ + "/001-my-rails-rails-alltoall.log"));
  EXPECT_TRUE(fs::exists(path_ + "/spec.toml"));
}

TEST_F(RunFolderTest, NamesNoFileForALaunchThatWroteNone) {
  RunFolder folder(path_, {}, "");
  folder.add(1, rails_, {.failure = "b does not answer"});
  EXPECT_EQ(folder.journal().lines.front().file, "");
  EXPECT_EQ(folder.journal().lines.front().failure, "b does not answer");
}

TEST_F(RunFolderTest, GoesOnWithTheRunThatItHolds) {
  const RunJournal head{.rules = {"a"}, .seed = "3", .nodes = {"a", "b"}};
  LaunchJob later = rails_;
  later.launch = 1;
  {
    RunFolder folder(path_, head, "schema = 1\n", true);  // begins it
    EXPECT_FALSE(folder.has(rails_));
    folder.add(1, rails_, {.csv = csv()});
    folder.add(2, later, {.failure = std::string(kInterrupted)});
    EXPECT_EQ(folder.text_file("h1\n", ""), path_ + "/hosts/0001");
  }
  std::ofstream(path_ + "/002-my-rails-rails-alltoall.csv") << csv();  // no line has it
  std::ofstream(path_ + "/launches.csv", std::ios::app) << "my rails,rail 0";
  RunJournal other = head;
  other.seed = "4";
  {
    RunFolder folder(path_, other, "schema = 1\n", true);
    EXPECT_EQ(folder.journal().seed, "3");
    EXPECT_TRUE(folder.has(rails_));
    EXPECT_FALSE(folder.has(later));
    ASSERT_EQ(folder.journal().lines.size(), 2U);
    folder.add(2, later, {.csv = csv()});
    EXPECT_EQ(folder.journal().lines.back().file, path_ + "/002-my-rails-rails-alltoall+.csv");
    EXPECT_EQ(folder.text_file("h2\n", ""), path_ + "/hosts/0002");
    EXPECT_EQ(folder.text_file("h1\n", ""), path_ + "/hosts/0003");
    const auto again = [&] { RunFolder(path_, head, "schema = 1\n", true); };
    EXPECT_TRUE(test::failure_of(again).says("another run"));  // it is being written
  }
  EXPECT_EQ(load_journal(path_ + "/launches.csv").lines.size(), 4U);
  const auto refuse = [&](const std::string& word, const RunJournal& wrong, int schema) {
    test::expect_failure(Status::Usage, word, [&] {
      RunFolder(path_, wrong, fmt::format("schema = {}\n", schema), true);
    });
  };
  refuse("rules (its spec.toml)", head, 2);
  refuse("--profile or --rule", {.seed = "3", .nodes = {"a", "b"}}, 1);
  refuse("nodes", {.rules = {"a"}, .seed = "3", .nodes = {"a"}}, 1);
  EXPECT_THROW(RunFolder(path_, head, "schema = 1\n"), Error);
}

TEST_F(RunFolderTest, KeepsTheTimelineOfAnInterruptedTurnButNoHalfLineOfIt) {
  const RunJournal head{.soak = true, .nodes = {"a", "b"}};
  {
    RunFolder folder(path_, head, "");
    folder.add(1, rails_,
               {.csv = "# timeline: at_s\n# timeline: 1\n# timeline: 2.0",
                .failure = std::string(kInterrupted)});
  }
  EXPECT_EQ(read_file(path_ + "/timelines/001-my-rails-rails-alltoall.csv"), "at_s\n1\n");
  EXPECT_EQ(RunFolder(path_, head, "", true).journal().lines.size(), 2U);  // it goes on with it
}

TEST_F(RunFolderTest, NamesFilesAsEveryFileSystemTakesThem) {
  RunFolder folder(path_, {}, "");
  const LaunchJob job{.device_set = std::string(200, 'a'),
                      .instances = {{.name = "rail 3/h1+h2", .nodes = {"h1"}}},
                      .collective = "allreduce"};
  folder.add(12, job, {.csv = "x\n1\n"});
  EXPECT_EQ(folder.journal().lines.front().file,
            path_ + "/012-" + std::string(60, 'a') + "-rail-3-h1+h2-allreduce.csv");
}

}  // namespace
}  // namespace busbar::judge
