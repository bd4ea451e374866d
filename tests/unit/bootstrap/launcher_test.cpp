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

void expect_launcher(const Variables& variables, std::string_view name, int rank, int size) {
  const auto launcher = launcher_in(variables);
  ASSERT_TRUE(launcher) << name;
  EXPECT_EQ(launcher->name, name);
  EXPECT_EQ(launcher->rank, rank);
  EXPECT_EQ(launcher->size, size);
}

TEST(FindLauncher, FindsNoneForAProcessStartedByHandOrInABatchScript) {
  EXPECT_FALSE(launcher_in({}).has_value());
  EXPECT_FALSE(launcher_in({{"PATH", "/bin"}, {"HOME", "/root"}}).has_value());
  EXPECT_FALSE(launcher_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}}));
}

TEST(FindLauncher, KnowsItByItsVariables) {
  const char* const pmi = "mpiexec (PMI)";
  expect_launcher({{"PMI_RANK", "3"}, {"PMI_SIZE", "16"}, {"PMI_FD", "9"}}, pmi, 3, 16);
  expect_launcher({{"PMI_RANK", "0"}}, pmi, 0, 0);  // which does not report the size
  expect_launcher({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
                  "Open MPI's mpirun", 1, 4);
  const Variables mvapich{{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "2"}};
  ASSERT_TRUE(launcher_in(mvapich));
  EXPECT_EQ(launcher_in(mvapich)->size, 2);
  Variables srun{{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}};
  expect_launcher(srun, "srun", 5, 8);
  srun.merge(Variables{{"PMI_RANK", "7"}, {"PMI_SIZE", "16"}});
  expect_launcher(srun, pmi, 7, 16);  // what started the process, not the job around it
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
  for (const MpiFamily family : {MpiFamily::Mpich, MpiFamily::Other}) {
    EXPECT_THAT(find_rank_launcher(family, 4, true, path_with({"mpiexec"})).arguments,
                ElementsAre("-n", "4"));
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
