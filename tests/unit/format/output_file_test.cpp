// SPDX-License-Identifier: BSD-3-Clause
#include "format/output_file.hpp"

namespace busbar {
namespace {

using test::failure_of;
using Mode = OutputFile::Mode;

struct OutputFileInFolder : testing::Test {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("x");
};

TEST_F(OutputFileInFolder, RefusesAFileThatIsNotEmpty) {
  const auto open = [&] { const OutputFile file(path, "--samples", Mode::New); };
  folder.write("x", "");
  EXPECT_EQ(failure_of(open).status, Status::Ok);
  folder.write("x", "precious");
  test::expect_failure(Status::Usage, "--samples: " + path, open);
  EXPECT_EQ(test::text_of(path), "precious");
}

TEST_F(OutputFileInFolder, FailsWhereItIsDeletedWhileItIsWritten) {
  OutputFile file(path, "--csv", Mode::New);
  file.append("row\n");
  std::filesystem::remove(path);
  test::expect_failure(Status::Runtime, path + " was deleted while it was written",
                       [&] { file.append("row\n"); });
}

TEST_F(OutputFileInFolder, LeavesNothingBehindWhereItsFirstPartDoesNotFit) {
  const test::SmallDisk disk(4);
  OutputFile whole(path, "-o", Mode::New);
  EXPECT_EQ(failure_of([&] { whole.append("too long"); }).status, Status::Runtime);
  EXPECT_FALSE(std::filesystem::exists(path));
  OutputFile rows(folder.path("y"), "--csv", Mode::New);
  rows.append("row\n");
  EXPECT_EQ(failure_of([&] { rows.append("row\n"); }).status, Status::Runtime);
  EXPECT_EQ(test::text_of(folder.path("y")), "row\n") << "what was measured stays";
}

TEST(OutputFile, WritesToADeviceThatCannotSeek) {
  OutputFile file("/dev/null", "--csv", Mode::New);
  EXPECT_EQ(failure_of([&] { file.append("row\n"); }).message, "");
}

struct ReplaceFile : testing::Test {
  void replace(const std::string& text) const { replace_file(path, text, "--prometheus"); }

  const test::TemporaryFolder folder;
  const std::string path = folder.path("busbar.prom");
};

TEST_F(ReplaceFile, ReplacesTheWholeTextLeavesNothingAsideAndCanBeReadByOthers) {
  replace("a long first text\n");
  replace("short\n");
  EXPECT_EQ(test::text_of(path), "short\n");
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  EXPECT_EQ(std::filesystem::status(path).permissions(), static_cast<std::filesystem::perms>(0644));
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
  test::expect_failure(Status::Usage, "--prometheus: ", [&] {
    replace_file(folder.path("absent/x.prom"), "x\n", "--prometheus");
  });
}

}  // namespace
}  // namespace busbar
