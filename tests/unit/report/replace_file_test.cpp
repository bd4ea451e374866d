// SPDX-License-Identifier: BSD-3-Clause
#include "report/replace_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar {
namespace {

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
