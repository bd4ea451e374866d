// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

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

using testing::ElementsAre;

ProgramLookup path_with(std::set<std::string, std::less<>> names) {
  return [names = std::move(names)](std::string_view name) { return names.count(name) > 0; };
}

TEST(FindRankLauncher, PrefersTheNameThatOnlyThisMpiHas) {
  const auto both = path_with({"mpiexec", "mpirun", "mpiexec.hydra", "mpirun.openmpi"});
  EXPECT_EQ(find_rank_launcher(MpiFamily::Mpich, 2, false, both).program, "mpiexec.hydra");
  EXPECT_EQ(find_rank_launcher(MpiFamily::OpenMpi, 2, false, both).program, "mpirun.openmpi");
  EXPECT_EQ(find_rank_launcher(MpiFamily::Other, 2, false, both).program, "mpiexec");
}

TEST(FindRankLauncher, TakesThePlainNameWhereThereIsNoOther) {
  const auto plain = path_with({"mpiexec", "mpirun"});
  EXPECT_EQ(find_rank_launcher(MpiFamily::Mpich, 2, false, plain).program, "mpiexec");
  EXPECT_EQ(find_rank_launcher(MpiFamily::OpenMpi, 2, false, plain).program, "mpirun");
}

TEST(FindRankLauncher, GivesOpenMpiWhatItRefusesToStartWithout) {
  const auto path = path_with({"mpirun"});
  EXPECT_THAT(find_rank_launcher(MpiFamily::OpenMpi, 16, false, path).arguments,
              ElementsAre("--oversubscribe", "-n", "16"));
  EXPECT_THAT(find_rank_launcher(MpiFamily::OpenMpi, 2, true, path).arguments,
              ElementsAre("--oversubscribe", "--allow-run-as-root", "-n", "2"));
}

TEST(FindRankLauncher, GivesOthersOnlyTheNumberOfRanks) {
  const auto path = path_with({"mpiexec"});
  for (const MpiFamily family : {MpiFamily::Mpich, MpiFamily::Other}) {
    EXPECT_THAT(find_rank_launcher(family, 4, true, path).arguments, ElementsAre("-n", "4"));
  }
}

TEST(FindRankLauncher, NamesWhatItLookedForWhereThereIsNone) {
  const test::Failure failure = test::failure_of(
      [] { (void)find_rank_launcher(MpiFamily::OpenMpi, 8, false, path_with({})); });
  EXPECT_EQ(failure.status, Status::Unavailable);
  EXPECT_TRUE(failure.says("-g 8")) << failure.message;
  EXPECT_TRUE(failure.says("mpirun.openmpi or mpirun")) << failure.message;
  EXPECT_TRUE(failure.is_one_line());
}

}  // namespace
}  // namespace busbar
