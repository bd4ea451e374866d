// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/halving_replay.hpp"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/run/plan.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const DeviceSetRule kSet{
    .id = "pairs", .kind = SetKind::Pairwise, .ranks_per_node = 1, .all_pairs_up_to = 2};
const std::vector<std::string> kNodes{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"};

/// Goes on round by round, as a run does, with verdicts by `word_of` the group's nodes.
HalvingReplay searched(const std::function<Word(const std::vector<std::string>&)>& word_of,
                       std::span<const Observation> observations = {}) {
  Judgement judgement;
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; ++round) {
    HalvingReplay replay = replay_halving(kSet, kNodes, observations, judgement);
    if (replay.next.empty()) return replay;
    for (const Instance& group : instances_of_round(replay.next, replay.nodes)) {
      judgement.verdicts.push_back({.device_set = "pairs",
                                    .instance = group.name,
                                    .nodes = group.nodes,
                                    .word = word_of(group.nodes)});
    }
  }
  ADD_FAILURE() << "the search does not end";
  return replay_halving(kSet, kNodes, {}, {});
}

Word low_with(const std::vector<std::string>& nodes, const std::string& bad) {
  return std::find(nodes.begin(), nodes.end(), bad) == nodes.end() ? Word::Pass : Word::Fail;
}

TEST(ReplayHalving, AsksForTheFirstRoundWhereNothingWasJudged) {
  const HalvingReplay replay = replay_halving(kSet, kNodes, {}, {});
  EXPECT_FALSE(replay.next.empty());
}

TEST(ReplayHalving, GoesToTheBadNodeByVerdictsAlone) {
  const HalvingReplay replay = searched([](const auto& nodes) { return low_with(nodes, "h5"); });
  ASSERT_EQ(replay.search.bad().size(), 1U);
  EXPECT_EQ(replay.nodes[replay.search.bad().front()], "h5");
  EXPECT_EQ(replay.search.good().size(), 7U);
}

TEST(ReplayHalving, TakesAnErrorForNoDataAndNoiseForNoBlame) {
  const HalvingReplay silent = searched([](const auto& nodes) {
    return low_with(nodes, "h2") == Word::Fail ? Word::Error : Word::Pass;
  });
  EXPECT_THAT(silent.search.silent(), ElementsAre(2));
  const HalvingReplay noisy = searched([](const auto&) { return Word::Inconclusive; });
  EXPECT_THAT(noisy.search.bad(), IsEmpty());
}

TEST(ReplayHalving, LeavesOutNodesThatDidNotAnswer) {
  const std::vector<Observation> dead{
      {.device_set = "pairs", .instance = "h0", .nodes = {"h0"}, .failure = "h0 does not answer"}};
  EXPECT_EQ(searched_nodes(kSet, kNodes, dead).size(), 7U);
  const HalvingReplay replay =
      searched([](const auto& nodes) { return low_with(nodes, "h1"); }, dead);
  ASSERT_EQ(replay.search.bad().size(), 1U);
  EXPECT_EQ(replay.nodes[replay.search.bad().front()], "h1");
}

}  // namespace
}  // namespace busbar::judge
