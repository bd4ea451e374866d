// SPDX-License-Identifier: BSD-3-Clause
#include "report/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/temporary_folder.hpp"

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

TEST(OutputFile, IsCutWhereTold) {
  const test::TemporaryFolder folder;
  folder.write("x", "whole\nhalf");
  OutputFile file(folder.path("x"), "--csv", Mode::Continue);
  EXPECT_EQ(file.size(), 10U);
  file.truncate(6);
  file.append("next\n");
  EXPECT_EQ(test::text_of(folder.path("x")), "whole\nnext\n");
}

TEST(OutputFile, RefusesAFileThatHasSomethingInIt) {
  const test::TemporaryFolder folder;
  folder.write("x", "precious");
  const Failure failure =
      failure_of([&] { const OutputFile file(folder.path("x"), "--samples", Mode::New); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(failure.message, "--samples: " + folder.path("x") +
                                 " exists and is not empty; give another name or remove it");
  EXPECT_EQ(test::text_of(folder.path("x")), "precious");
}

TEST(OutputFile, TakesAFileThatIsEmpty) {
  const test::TemporaryFolder folder;
  folder.write("x", "");
  EXPECT_EQ(failure_of([&] { const OutputFile file(folder.path("x"), "--csv", Mode::New); }).status,
            Status::Ok);
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

TEST(OutputFile, WritesToADeviceThatCannotSeek) {
  OutputFile file("/dev/null", "--csv", Mode::New);
  EXPECT_EQ(failure_of([&] { file.append("row\n"); }).message, "");
}

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() { fs::create_directories(folder_); }
  ~ReplaceFile() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ / "busbar.prom"; }
  [[nodiscard]] std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

  fs::path folder_ = fs::temp_directory_path() / ("replace_file_" + std::to_string(getpid()));
};

TEST_F(ReplaceFile, ReplacesTheWholeTextAndLeavesNothingAside) {
  replace_file(path(), "a long first text\n", "--prometheus");
  replace_file(path(), "short\n", "--prometheus");
  EXPECT_EQ(content(), "short\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(ReplaceFile, CanBeReadByOthers) {
  replace_file(path(), "x\n", "--prometheus");
  EXPECT_EQ(fs::status(path()).permissions() & fs::perms::mask, static_cast<fs::perms>(0644));
}

TEST_F(ReplaceFile, IsAnotherFileSoThatAReaderKeepsTheOldOne) {
  replace_file(path(), "old\n", "--prometheus");
  std::ifstream reader(path());
  replace_file(path(), "new\n", "--prometheus");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old");
}

TEST_F(ReplaceFile, NamesTheOptionWhereTheFolderIsAbsent) {
  try {
    replace_file(folder_ / "absent" / "x.prom", "x\n", "--prometheus");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    EXPECT_TRUE(std::string(error.what()).starts_with("--prometheus: cannot write "));
  }
}

}  // namespace
}  // namespace busbar
