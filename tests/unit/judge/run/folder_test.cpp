// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/folder.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  test::TemporaryFolder parent_;
  std::string path_ = parent_.path("run");
  Job rails_{.device_set = "my rails",
             .instances = {{.name = "rail 0", .nodes = {"a", "b"}, .group = 0},
                           {.name = "rail 1", .nodes = {"a", "b"}, .group = 1}},
             .nodes = {"a", "b"},
             .collective = "alltoall"};
};

TEST_F(RunFolderTest, HasALaunchsLinesOnDiskBeforeTheNext) {
  RunFolder folder(path_, {.seed = "3"}, "schema = 1\n");
  folder.add(1, rails_, {.seconds = 2}, "x\n1\n", "said\n");
  const Journal journal = load_journal(folder.journal_path());
  ASSERT_EQ(journal.lines.size(), 2U);
  EXPECT_EQ(journal.lines[1].group, 1);
  EXPECT_EQ(journal.lines[1].file, "001-my-rails-rails-alltoall.csv");
  EXPECT_TRUE(fs::exists(path_ + "/001-my-rails-rails-alltoall.csv"));
  EXPECT_TRUE(fs::exists(path_ + "/001-my-rails-rails-alltoall.log"));
  EXPECT_TRUE(fs::exists(path_ + "/spec.toml"));
}

TEST_F(RunFolderTest, NamesNoFileForALaunchThatWroteNone) {
  RunFolder folder(path_, {}, "");
  folder.add(1, rails_, {.failure = "b does not answer"}, "", "");
  EXPECT_EQ(folder.journal().lines.front().file, "");
  EXPECT_EQ(folder.journal().lines.front().failure, "b does not answer");
}

TEST_F(RunFolderTest, NeverReplacesAnything) {
  fs::create_directories(path_);
  std::ofstream(path_ + "/precious") << "x";
  EXPECT_THROW(RunFolder(path_, {}, ""), Error);
  EXPECT_FALSE(fs::exists(path_ + "/spec.toml"));
}

TEST(FileWord, KeepsOnlyWhatEveryFileSystemTakes) {
  EXPECT_EQ(file_word("rail 3/h1+h2"), "rail-3-h1+h2");
  EXPECT_EQ(file_word(std::string(200, 'a')).size(), 60U);
}

}  // namespace
}  // namespace busbar::judge
