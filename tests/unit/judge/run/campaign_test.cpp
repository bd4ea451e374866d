// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/campaign.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

TEST(Campaign, AsksANodeAgainAfterATimeoutAndLaunchesNothingMoreOnOneThatIsGone) {
  const test::TemporaryFolder folder;
  const std::string program = folder.path("allreduce_perf");
  // Prints its version once; whatever is asked of it afterwards, it does not do.
  std::ofstream(program) << "#!/bin/sh\ncase $* in *--version*) exec mkdir " << folder.path("asked")
                         << ";; esac\nexec sleep 20\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Specification specification;
  specification.run = {.launches = 3, .timeout_s = 0.2};
  specification.device_sets = {{.id = "set", .kind = SetKind::PerNode, .ranks_per_node = 1}};
  specification.expectations = {
      {.id = "rule", .collectives = {"allreduce"}, .device_set = "set", .sizes = {kMiB}}};
  RunFolder run(folder.path("run"), {}, "");
  Campaign campaign(
      {.specification = specification,
       .nodes = {"localhost"},
       .setup = {.launcher = choose_launcher({.wanted = "local"}), .programs = folder.path(".")},
       .judge = [](auto) { return Acceptance{}; }},
      run);
  EXPECT_TRUE(campaign.run());
  const std::vector<Observation>& lines = run.journal().lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].failure, "timeout after 0.2 s");
  for (const std::size_t later : {1U, 2U}) EXPECT_EQ(lines.at(later).unreachable, "localhost");
}

}  // namespace
}  // namespace busbar::judge
