// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/rehearsal.hpp"

#include "judge/fleet/confirmation.hpp"

namespace busbar::judge {
namespace {

struct Totals {
  std::size_t right = 0;
  std::size_t alarms = 0;
  std::size_t found = 0;
  std::size_t not_measured = 0;
};

Totals rehearse_all(const FleetPlan& plan, const std::string& faults, std::size_t fleets,
                    double deviation = 0.04) {
  Totals totals;
  const auto planted = faults.empty() ? std::vector<PlantedFault>{} : parse_faults("-", faults);
  for (std::uint64_t seed = 1; seed <= fleets; ++seed) {
    const Rehearsal one = rehearse(plan, {.deviation = deviation}, planted, {}, seed);
    if (!one.falsely_blamed.empty()) ++totals.alarms;
    if (one.falsely_blamed.empty() && one.missed.empty()) ++totals.right;
    totals.found += one.found.size();
    totals.not_measured += one.not_measured.size();
  }
  return totals;
}

struct Promise {
  std::size_t nodes;
  std::size_t leaf;
  std::string faults;
};

class LongRehearsalPromise : public ::testing::TestWithParam<Promise> {};

// Of 200 fleets at least 198, at 4 % noise: the table of docs/acceptance.md.
TEST_P(LongRehearsalPromise, FindsWhatIsPlantedAndNothingElse) {
  const Promise& promise = GetParam();
  const FleetPlan plan{.nodes = promise.nodes, .levels = {promise.leaf}};
  const std::size_t fleets = promise.nodes > 100 ? 50 : 200;
  EXPECT_GE(rehearse_all(plan, promise.faults, fleets).right * 100, fleets * 99);
}

INSTANTIATE_TEST_SUITE_P(
    Fleets, LongRehearsalPromise,
    ::testing::Values(Promise{16, 4, ""}, Promise{64, 8, ""}, Promise{256, 16, ""},
                      Promise{16, 4, "slow-node:1:0.85"}, Promise{16, 4, "uplink:1:0.5"},
                      Promise{64, 8, "slow-node:3:0.85,uplink:1:0.5,dead:2,hang:1"},
                      Promise{64, 8, "slow-node:1:0.85,link:1:0.5"}, Promise{64, 8, "uplink:1:0.8"},
                      Promise{256, 16, "slow-node:3:0.85,link:2:0.5,uplink:1:0.5,dead:2"}));

TEST(Rehearse, FindsEveryLinkThatWasMeasured) {
  const Totals totals = rehearse_all({.nodes = 16}, "link:1:0.5", 100);
  EXPECT_EQ(totals.found + totals.not_measured, 100U);
  EXPECT_GT(totals.found, 50U);
  EXPECT_EQ(totals.alarms, 0U);
}

TEST(Rehearse, FindsABimodalNodeByALowQuantileOnly) {
  EXPECT_EQ(rehearse_all({.nodes = 64}, "bimodal:1:0.5", 20).found, 0U);
  const FleetPlan both{.nodes = 64, .tests = 2, .low_tests = 1};
  EXPECT_EQ(rehearse_all(both, "bimodal:1:0.5", 20).found, 20U);
}

TEST(Rehearse, CountsLaunchesAndTime) {
  const FleetPlan plan{.nodes = 64};
  const LaunchTimes times{.start = 100, .connect = 10, .row = 1};
  const Rehearsal healthy = rehearse(plan, {.deviation = 0}, {}, times, 1);
  EXPECT_EQ(healthy.launches, 4U);  // each alone, and three
  EXPECT_EQ(healthy.rounds, 19U);
  EXPECT_EQ(healthy.seconds, 4 * 100 + 19 * 11);
  EXPECT_NEAR(healthy.measured_pairs, 0.26, 0.01);
  const Rehearsal hangs =
      rehearse(plan, {.deviation = 0}, {{.kind = FaultKind::Hang, .count = 1}}, times, 1);
  EXPECT_EQ(hangs.launches, 5U);
  EXPECT_EQ(hangs.found.size(), 1U);
}

TEST(Rehearse, IsTheSameForASeed) {
  const FleetPlan plan{.nodes = 64};
  const auto faults = parse_faults("-", "slow-node:2:0.9,link:2");
  const auto once = rehearse(plan, {}, faults, {}, 7);
  EXPECT_EQ(once.found, rehearse(plan, {}, faults, {}, 7).found);
  EXPECT_NE(once.found, rehearse(plan, {}, faults, {}, 8).found);
}

TEST(FindPower, FindsTheLeastLossWhichGrowsWithNoiseAndIsNoneOfTooFewNodes) {
  const FleetPlan plan{.nodes = 16};
  const PowerEffort effort{.healthy = 20, .planted = 100};
  const FleetPower quiet = find_power(plan, {.deviation = 0.01}, {}, effort, 1);
  const FleetPower noisy = find_power(plan, {.deviation = 0.06}, {}, effort, 1);
  EXPECT_LE(quiet.least_loss, 0.06);
  EXPECT_GT(noisy.least_loss, quiet.least_loss);
  EXPECT_EQ(quiet.alarms, 0U);
  EXPECT_EQ(find_power({.nodes = 3}, {.deviation = 0.01}, {}, {10, 50}, 1).least_loss, 0);
}

TEST(ConfirmationRounds, GivesSuspectsChangingGoodPartnersAndRepeatsLinks) {
  const std::vector<NodePath> paths(32);
  Screening screening;
  screening.has_value.assign(32, true);
  screening.nodes = {{.node = 3, .blamed = true}, {.node = 4, .blamed = false}};
  screening.links = {{10, 11, -0.7}};
  const auto drawn = confirmation_rounds(screening, paths, 1, 0);
  ASSERT_EQ(drawn.size(), 16U);
  std::set<std::size_t> partners;
  for (std::size_t round = 0; round < 8; ++round) {
    EXPECT_EQ(drawn[round].number, round);
    for (const auto& [first, second] : drawn[round].pairs) {
      EXPECT_FALSE(first == 3 && second == 4);
      if (first == 3 || second == 3) partners.insert(first == 3 ? second : first);
    }
  }
  EXPECT_EQ(partners.size(), 8U);
  const RoundOfPairs& links = drawn.back().pairs;
  EXPECT_EQ(drawn.back().number, kFirstLinkRound + 7);
  EXPECT_EQ(links, drawn[8].pairs);
  EXPECT_EQ(links.front(), (std::pair<std::size_t, std::size_t>(10, 11)));
  EXPECT_EQ(links, confirmation_rounds(screening, paths, 1, 2).back().pairs);
}

TEST(FleetRounds, HaveEveryPairOfASmallFleetOnce) {
  for (std::size_t nodes = 2; nodes <= kSmallFleet; ++nodes) {
    for (const std::size_t leaf : {1U, 2U, 3U, 4U, 8U}) {
      const std::vector<NodePath> paths = simulated_paths(nodes, {leaf});
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<NumberPair> all;
        for (const RoundOfPairs& round : fleet_rounds(paths, 1, seed)) {
          std::set<std::size_t> busy;
          for (const auto& [first, second] : round) {
            EXPECT_TRUE(busy.insert(first).second && busy.insert(second).second);
            all.push_back(pair_of(first, second));
          }
        }
        EXPECT_EQ(all.size(), nodes * (nodes - 1) / 2) << nodes << " " << leaf;
        EXPECT_EQ(std::set<NumberPair>(all.begin(), all.end()).size(), all.size());
      }
    }
  }
}

TEST(ConfirmationRounds, HasNoneWithoutSuspectsOrGoodNodes) {
  Screening screening;
  screening.has_value.assign(4, true);
  EXPECT_TRUE(confirmation_rounds(screening, std::vector<NodePath>(4), 1, 0).empty());
  for (std::size_t node = 0; node < 4; ++node) screening.nodes.push_back({.node = node});
  EXPECT_TRUE(confirmation_rounds(screening, std::vector<NodePath>(4), 1, 0).empty());
}

TEST(Rehearse, RefusesFaultsThatItCannotHave) {
  for (const char* faults : {"broken:1", "dead:1:0.5", "slow-node:1:1.5"}) {
    EXPECT_THROW((void)parse_faults("--plant", faults), Error) << faults;
  }
  for (const char* faults : {"uplink:1", "dead:5"}) {
    EXPECT_THROW((void)rehearse({.nodes = 4}, {}, parse_faults("-", faults), {}, 1), Error);
  }
  EXPECT_THROW((void)parse_noise("--noise", "no/such/file"), Error);
}

}  // namespace
}  // namespace busbar::judge
