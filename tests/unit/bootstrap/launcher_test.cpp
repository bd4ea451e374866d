// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <map>

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Launcher> launcher_in(const Variables& variables) {
  return find_launcher([&](const char* name) -> const char* {
    const auto known = variables.find(name);
    return known == variables.end() ? nullptr : known->second.c_str();
  });
}

TEST(FindLauncher, FindsNoneForAProcessStartedByHand) {
  EXPECT_FALSE(launcher_in({}).has_value());
  EXPECT_FALSE(launcher_in({{"PATH", "/bin"}, {"HOME", "/root"}}).has_value());
}

TEST(FindLauncher, KnowsHydra) {
  const auto launcher = launcher_in({{"PMI_RANK", "3"}, {"PMI_SIZE", "16"}, {"PMI_FD", "9"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->name, "mpiexec (PMI)");
  EXPECT_EQ(launcher->rank, 3);
  EXPECT_EQ(launcher->size, 16);
}

TEST(FindLauncher, KnowsOpenMpi) {
  const auto launcher = launcher_in({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->name, "Open MPI's mpirun");
  EXPECT_EQ(launcher->rank, 1);
  EXPECT_EQ(launcher->size, 4);
}

TEST(FindLauncher, KnowsMvapich) {
  const auto launcher = launcher_in({{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "2"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->size, 2);
}

TEST(FindLauncher, KnowsSrun) {
  const auto launcher =
      launcher_in({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->name, "srun");
  EXPECT_EQ(launcher->rank, 5);
  EXPECT_EQ(launcher->size, 8);
}

TEST(FindLauncher, FindsNoneInABatchScript) {
  EXPECT_FALSE(launcher_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}})
                   .has_value());
}

TEST(FindLauncher, PrefersWhatStartedTheProcessOverTheJobAroundIt) {
  const auto launcher = launcher_in({{"SLURM_PROCID", "0"},
                                     {"SLURM_NTASKS", "2"},
                                     {"SLURM_STEP_ID", "0"},
                                     {"PMI_RANK", "7"},
                                     {"PMI_SIZE", "16"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->size, 16);
  EXPECT_EQ(launcher->rank, 7);
}

TEST(FindLauncher, HasNoSizeWhereTheLauncherDoesNotTell) {
  const auto launcher = launcher_in({{"PMI_RANK", "0"}});
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->size, 0);
}

}  // namespace
}  // namespace busbar
