// SPDX-License-Identifier: BSD-3-Clause
#include "format/output_file.hpp"

namespace busbar {
namespace {

using test::Failure;
using test::failure_of;
using Mode = OutputFile::Mode;

TEST(OutputFile, IsOnDiskAfterEveryAppend) {
  const test::TemporaryFolder folder;
  OutputFile file(folder.path("x"), "--csv", Mode::New);
  file.append("one\n");
  EXPECT_EQ(test::text_of(folder.path("x")), "one\n");
  file.append("two\n");
  EXPECT_EQ(test::text_of(folder.path("x")), "one\ntwo\n");
  EXPECT_EQ(file.size(), 8U);
}

TEST(OutputFile, WritesOverWhatIsThereAndGrows) {
  const test::TemporaryFolder folder;
  OutputFile file(folder.path("x"), "-J", Mode::New);
  file.append("head tail");
  file.write_at(5, "row\ntail");
  EXPECT_EQ(test::text_of(folder.path("x")), "head row\ntail");
  EXPECT_EQ(file.size(), 13U);
}

TEST(OutputFile, IsCutOnRequest) {
  const test::TemporaryFolder folder;
  folder.write("x", "whole\nhalf");
  OutputFile file(folder.path("x"), "--csv", Mode::Continue);
  EXPECT_EQ(file.size(), 10U);
  file.truncate(6);
  file.append("next\n");
  EXPECT_EQ(test::text_of(folder.path("x")), "whole\nnext\n");
}

TEST(OutputFile, RefusesAFileThatIsNotEmpty) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("x");
  const auto open = [&] { const OutputFile file(path, "--samples", Mode::New); };
  folder.write("x", "");
  EXPECT_EQ(failure_of(open).status, Status::Ok);
  folder.write("x", "precious");
  EXPECT_EQ(failure_of(open).status, Status::Usage);
  EXPECT_TRUE(failure_of(open).says("--samples: " + path)) << failure_of(open).message;
  EXPECT_EQ(test::text_of(path), "precious");
}

TEST(OutputFile, RefusesWhereItCannotBeCreated) {
  const test::TemporaryFolder folder;
  for (const std::string& path : {folder.path("none/x.csv"), folder.path()}) {
    const Failure failure = failure_of([&] { const OutputFile file(path, "--csv", Mode::New); });
    EXPECT_EQ(failure.status, Status::Usage) << path;
    EXPECT_TRUE(failure.message.starts_with("--csv: cannot write " + path + ": "))
        << failure.message;
  }
}

TEST(OutputFile, FailsWhereTheDiskIsFull) {
  OutputFile file("/dev/full", "--csv", Mode::New);
  const Failure failure = failure_of([&] { file.append("row\n"); });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_EQ(failure.message, "cannot write /dev/full: No space left on device");
}

TEST(OutputFile, FailsWhereItIsDeletedWhileItIsWritten) {
  const test::TemporaryFolder folder;
  OutputFile file(folder.path("x"), "--csv", Mode::New);
  file.append("row\n");
  std::filesystem::remove(folder.path("x"));
  test::expect_failure(Status::Runtime, folder.path("x") + " was deleted while it was written",
                       [&] { file.append("row\n"); });
}

TEST(OutputFile, LeavesNothingBehindWhereItsFirstPartDoesNotFit) {
  const test::TemporaryFolder folder;
  const test::SmallDisk disk(4);
  OutputFile whole(folder.path("x"), "-o", Mode::New);
  EXPECT_EQ(failure_of([&] { whole.append("too long"); }).status, Status::Runtime);
  EXPECT_FALSE(std::filesystem::exists(folder.path("x")));
  OutputFile rows(folder.path("y"), "--csv", Mode::New);
  rows.append("row\n");
  EXPECT_EQ(failure_of([&] { rows.append("row\n"); }).status, Status::Runtime);
  EXPECT_EQ(test::text_of(folder.path("y")), "row\n") << "what was measured stays";
}

TEST(OutputFile, WritesToADeviceThatCannotSeek) {
  OutputFile file("/dev/null", "--csv", Mode::New);
  EXPECT_EQ(failure_of([&] { file.append("row\n"); }).message, "");
}

namespace fs = std::filesystem;

struct ReplaceFile : testing::Test {
  void replace(const std::string& text) const { replace_file(path, text, "--prometheus"); }

  const test::TemporaryFolder folder;
  const std::string path = folder.path("busbar.prom");
};

TEST_F(ReplaceFile, ReplacesTheWholeTextAndLeavesNothingAside) {
  replace("a long first text\n");
  replace("short\n");
  EXPECT_EQ(test::text_of(path), "short\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST_F(ReplaceFile, CanBeReadByOthers) {
  replace("x\n");
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::mask, static_cast<fs::perms>(0644));
}

TEST_F(ReplaceFile, IsAnotherFileSoThatAReaderKeepsTheOldOne) {
  replace("old\n");
  std::ifstream reader(path);
  replace("new\n");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old");
}

TEST_F(ReplaceFile, NamesTheOptionWhereTheFolderIsAbsent) {
  const Failure failure =
      failure_of([&] { replace_file(folder.path("absent/x.prom"), "x\n", "--prometheus"); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.message.starts_with("--prometheus: ")) << failure.message;
}

}  // namespace
}  // namespace busbar
