// SPDX-License-Identifier: BSD-3-Clause
#include "model/matching.hpp"

#include "model/host_levels.hpp"

namespace busbar {
namespace {

using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

/// All pairs; fails where one comes twice, or a node twice in a round.
Pairs pairs_of(const std::vector<RoundOfPairs>& rounds) {
  Pairs pairs;
  for (const RoundOfPairs& round : rounds) {
    std::set<std::size_t> seen;
    for (const auto& [first, second] : round) {
      EXPECT_LT(first, second);
      EXPECT_TRUE(seen.insert(first).second);
      EXPECT_TRUE(seen.insert(second).second);
      EXPECT_TRUE(pairs.insert({first, second}).second) << first << "+" << second << " twice";
    }
  }
  return pairs;
}

/// Nodes in leaves of 4, two leaves a pod.
std::vector<NodePath> fabric(std::size_t nodes) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < nodes; ++i) {
    paths.push_back({fmt::format("p{}", i / 8), fmt::format("l{}", i / 4)});
  }
  return paths;
}

/// How often each is the partner of node 0 in the last round that `draw` gives for many seeds.
template <class Draw>
std::map<std::size_t, int> partners_of_node_0(const Draw& draw) {
  std::map<std::size_t, int> partners;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto rounds = draw(seed);
    for (const auto& [first, second] : rounds.back()) {
      if (first == 0) ++partners[second];
    }
  }
  return partners;
}

TEST(Matching, PairsEveryNodeInEveryRoundAndNoPairTwice) {
  for (const std::size_t nodes : {2U, 8U, 64U, 1000U}) {
    const auto rounds = random_matchings(nodes, 6, 1);
    EXPECT_EQ(rounds.size(), std::min<std::size_t>(6, nodes - 1));
    EXPECT_EQ(pairs_of(rounds).size(), rounds.size() * nodes / 2);
  }
}

TEST(Matching, TakesAllPairsOfAFewNodes) {
  EXPECT_EQ(pairs_of(random_matchings(5, 6, 1)).size(), 10U);
  EXPECT_EQ(pairs_of(random_matchings(7, 7, 1)).size(), 21U);
  EXPECT_TRUE(random_matchings(1, 6, 1).empty());
}

TEST(Matching, IsTheSameForASeedAndAnotherForAnother) {
  EXPECT_EQ(random_matchings(64, 3, 5), random_matchings(64, 3, 5));
  EXPECT_NE(random_matchings(64, 3, 5), random_matchings(64, 3, 6));
  EXPECT_EQ(level_matchings(fabric(64), 6, 5), level_matchings(fabric(64), 6, 5));
}

TEST(Matching, DrawsEveryPartnerAsOften) {
  const auto partners =
      partners_of_node_0([](std::uint64_t seed) { return random_matchings(16, 1, seed); });
  ASSERT_EQ(partners.size(), 15U);
  for (const auto& [partner, count] : partners) EXPECT_NEAR(count, 200, 60) << partner;
}

TEST(Matching, GivesEachLevelItsShareOfRounds) {
  const std::vector<NodePath> paths = fabric(64);
  const auto rounds = level_matchings(paths, 7, 3);
  ASSERT_EQ(rounds.size(), 7U);
  (void)pairs_of(rounds);
  const std::vector<std::size_t> levels{2, 2, 1, 1, 0, 0, 0};
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    EXPECT_EQ(rounds[round].size(), 32U) << round;
    for (const auto& [first, second] : rounds[round]) {
      EXPECT_EQ(shared_units(paths[first], paths[second]), levels[round]) << round;
    }
  }
}

TEST(Matching, PairsAcrossLeavesAtRandom) {
  const auto partners =  // across the pods
      partners_of_node_0([](std::uint64_t seed) { return level_matchings(fabric(16), 3, seed); });
  ASSERT_EQ(partners.size(), 8U);
  for (const auto& [partner, count] : partners) EXPECT_NEAR(count, 375, 90) << partner;
}

TEST(Matching, LeavesOutNodesWithoutAPartnerAtALevel) {
  // Six of one leaf and one of each of two others: only two pairs cross.
  std::vector<NodePath> paths(8, {"big"});
  paths[6] = {"small"};
  paths[7] = {"tiny"};
  const auto rounds = level_matchings(paths, 2, 1);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].size(), 3U);
  for (const auto& [first, second] : rounds[1]) EXPECT_NE(paths[first], paths[second]);
  EXPECT_EQ(rounds[1].size(), 2U);
}

TEST(Matching, IsOneLevelWhereAllNodesAreInOneUnit) {
  const std::vector<NodePath> paths(8, {"leaf"});
  EXPECT_EQ(level_matchings(paths, 3, 1), random_matchings(8, 3, 1));
  EXPECT_EQ(level_matchings(std::vector<NodePath>(8), 3, 1), random_matchings(8, 3, 1));
}

TEST(KnownHost, MatchesWithAndWithoutADomain) {
  const std::vector<std::string> known{"h1", "h2.example.org", "h3.a.org"};
  EXPECT_EQ(known_host("h1.example.org", known), "h1");
  EXPECT_EQ(known_host("h2", known), "h2.example.org");
  EXPECT_EQ(known_host("h3.b.org", known), "h3.b.org");
  EXPECT_EQ(known_host("h4", known), "h4");
}

TEST(HostLevels, HasThePathsOfHostsByTheirNames) {
  const HostLevels levels("# a fleet\nhost, pod, leaf\nh1,p0,l0\nh2.example.org,p1,l0\n\n", "x");
  EXPECT_EQ(levels.names(), (std::vector<std::string>{"pod", "leaf"}));
  EXPECT_EQ(levels.paths_of({"h2", "h1.example.org"}),
            (std::vector<NodePath>{{"p1", "l0"}, {"p0", "l0"}}));
  EXPECT_THAT(test::refusal_of([&] {
                (void)levels.paths_of({"h1", "h7"});
              }),
              HasSubstr("x: it lacks host h7"));
}

TEST(HostLevels, ThatAreNoneAreRefusedByTheirLine) {
  for (const auto& [text, message] :
       {std::pair{"", "levels.csv: it names no host"},
        {"host,pod\n", "levels.csv: it names no host"},
        {"node,pod\nh1,p0\n", "levels.csv:1: expected a header"},
        {"host\nh1\n", "levels.csv:1: expected a header"},
        {"host,pod\nh1\n", "levels.csv:2: expected a host and its pod"},
        {"host,pod,leaf\nh1,p0,\n", "levels.csv:2: expected a host"},
        {"host,pod\nh1,p0\nh1,p1\n", "levels.csv:3: h1 again"}}) {
    EXPECT_THAT(test::refusal_of([&, of = text] { const HostLevels levels(of, "levels.csv"); }),
                StartsWith(message));
  }
}

}  // namespace
}  // namespace busbar
