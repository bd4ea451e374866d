// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rank_launcher.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

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
