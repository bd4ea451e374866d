// SPDX-License-Identifier: BSD-3-Clause
#include "harness/evidence.hpp"

#include "harness/group_plan.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// Of each part something that is not its default.
Evidence full() {
  return {.times_us = {1.0 / 3, 1e-300, 123456789.987654321},
          .arrivals = {{.last = 3, .late_us = 0.1}, {.last = 0, .late_us = 1.0 / 3}},
          .rank_times_us = {{1, 2.5}, {1.0 / 3, 4}},
          .start_skews_us = {1},
          .loads_us = {2},
          .enqueue_us = {3},
          .host_times_us = {4},
          .turns = {{1, 2, 3, 4, 5, 6}},
          .operations = 5,
          .warmup_operations = 6,
          .batch = 7,
          .steady = false,
          .stop = stats::StopReason::MaxSamples,
          .disturbances = {8, 9},
          .skipped = "MPI has no type half",
          .failed = "a\tb",
          .check = DataCheck{.wrong = 10, .first_wrong = "expected \"37\", got 36;\u00b5s"},
          .checkable = false,
          .fault_injected = true,
          .choice = {.algorithm = "Ring", .protocol = "LL", .channels = 2},
          .finished_at = "2026-11-21 15:00:00",
          .nodes = 11,
          .connect_s = 0.5,
          .segment_bytes = 12,
          .in_cache = true,
          .registered = false,
          .pages = "huge",
          .device_set = "cores 0-1",
          .bound_kind = "host-memory",
          .bound_GBps = 13};
}

TEST(EvidenceText, IsALineThatKeepsEveryPartAndEveryDigit) {
  const std::string text = to_text(full());
  EXPECT_EQ(text.find_first_of("\t\n"), std::string::npos);
  EXPECT_EQ(to_text(parse_evidence(text)), text);
  EXPECT_EQ(parse_evidence(text).times_us, full().times_us);
  const std::string usual = to_text(Evidence{});
  EXPECT_EQ(to_text(parse_evidence(usual)), usual);
  const std::vector<std::string> parts = split(text, ',');
  for (const std::string& part : split(usual, ',')) {
    EXPECT_FALSE(contains(parts, part)) << "a part that full() does not change";
  }
}

TEST(GatherEvidence, BringsThatOfEveryGroupsFirstRankToRankZero) {
  GroupPlan plan{.kind = GroupPlan::Kind::Groups, .rounds = {{}, {}}};
  plan.rounds[1].groups = {{.number = 4, .ranks = {3, 4}}, {.number = 2, .ranks = {1, 2}}};
  test::on_ranks(5, [&](test::ThreadBootstrap& world) {
    Evidence mine;
    mine.times_us.assign(static_cast<std::size_t>(world.rank()), 1.5);
    const auto all = gather_evidence(world, plan, 1, mine);
    ASSERT_EQ(all.size(), world.rank() == 0 ? 2U : 0U);  // which is in no group itself
    if (all.empty()) return;
    EXPECT_EQ(all[0].times_us.size(), 3U);
    EXPECT_EQ(all[1].times_us, std::vector<double>{1.5});
  });
}

}  // namespace
}  // namespace busbar
