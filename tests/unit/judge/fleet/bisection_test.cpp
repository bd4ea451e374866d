// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using Nodes = std::vector<std::size_t>;
using Outcome = Bisection::Finding;

/// What a cluster shows of the nodes that measure together.
using Cluster = std::function<Outcome(const Nodes&)>;

bool has(const Nodes& nodes, std::size_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

Cluster with_bad(Nodes bad) {
  return [bad = std::move(bad)](const Nodes& nodes) {
    const bool low =
        std::any_of(nodes.begin(), nodes.end(), [&](std::size_t node) { return has(bad, node); });
    return low ? Outcome::Low : Outcome::Good;
  };
}

Cluster with_silent(Nodes silent) {
  return [low = with_bad(std::move(silent))](const Nodes& nodes) {
    return low(nodes) == Outcome::Low ? Outcome::NoData : Outcome::Good;
  };
}

Cluster with_bad_link(std::size_t first, std::size_t second) {
  return [=](const Nodes& nodes) {
    return has(nodes, first) && has(nodes, second) ? Outcome::Low : Outcome::Good;
  };
}

struct Search {
  Bisection bisection;
  std::size_t rounds = 0;
};

void expect_disjoint(const std::vector<Bisection::Group>& groups, const Nodes& good,
                     std::size_t nodes) {
  std::vector<bool> seen(nodes, false);
  for (const auto& group : groups) {
    EXPECT_GE(group.members.size() + group.helpers.size(), 2U);
    for (const auto* part : {&group.members, &group.helpers}) {
      for (const std::size_t node : *part) {
        if (seen[node]) ADD_FAILURE() << "twice in a round: " << node;
        seen[node] = true;
      }
    }
    for (const std::size_t helper : group.helpers) EXPECT_TRUE(has(good, helper)) << helper;
  }
}

void expect_every_node_once(const Bisection& bisection, std::size_t nodes) {
  Nodes all = bisection.good();
  all.insert(all.end(), bisection.bad().begin(), bisection.bad().end());
  all.insert(all.end(), bisection.silent().begin(), bisection.silent().end());
  for (const auto& group : bisection.unresolved())
    all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    if (all[node] != node) ADD_FAILURE() << "not once: " << node;
  }
}

Search search(std::size_t nodes, const Cluster& cluster) {
  Search found{.bisection = Bisection(nodes)};
  for (auto groups = found.bisection.round(); !groups.empty(); groups = found.bisection.round()) {
    expect_disjoint(groups, found.bisection.good(), nodes);
    std::vector<Outcome> outcomes;
    for (const auto& group : groups) {
      Nodes together = group.members;
      together.insert(together.end(), group.helpers.begin(), group.helpers.end());
      outcomes.push_back(cluster(together));
    }
    found.bisection.report(outcomes);
    if (++found.rounds > 1000) {
      ADD_FAILURE() << "does not end";
      break;
    }
  }
  expect_every_node_once(found.bisection, nodes);
  return found;
}

std::size_t doublings(std::size_t nodes) {
  return static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(nodes))));
}

constexpr std::array<std::size_t, 16> kSizes{3,  4,  5,  6,  7,  8,   9,   15,
                                             16, 17, 31, 33, 64, 100, 129, 200};

TEST(Bisection, AsksForTwoHalvesAtOnce) {
  Bisection bisection(5);
  const auto groups = bisection.round();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].members, (Nodes{0, 1}));
  EXPECT_EQ(groups[1].members, (Nodes{2, 3, 4}));
}

TEST(Bisection, GivesTheSameRoundUntilItIsReported) {
  Bisection bisection(5);
  const auto first = bisection.round();
  const auto again = bisection.round();
  ASSERT_EQ(again.size(), first.size());
  EXPECT_EQ(again[0].members, first[0].members);
}

TEST(Bisection, EndsAfterOneRoundWhereBothHalvesAreGood) {
  for (const std::size_t nodes : kSizes) {
    if (nodes == 3) continue;  // one waits for a helper
    const Search found = search(nodes, with_bad({}));
    EXPECT_EQ(found.rounds, 1U);
    EXPECT_EQ(found.bisection.good().size(), nodes);
  }
}

TEST(Bisection, FindsOneBadNodeInLogarithmicallyManyRounds) {
  for (std::size_t nodes = 3; nodes <= 200; ++nodes) {
    for (std::size_t bad = 0; bad<nodes; bad += nodes> 20 ? 7 : 1) {
      const Search found = search(nodes, with_bad({bad}));
      EXPECT_EQ(found.bisection.bad(), Nodes{bad}) << nodes;
      EXPECT_EQ(found.bisection.good().size(), nodes - 1) << nodes;
      EXPECT_LE(found.rounds, nodes == 3 ? 4 : doublings(nodes) + 1)
          << nodes << " nodes, bad " << bad;
    }
  }
}

/// All sets of `count` of the nodes, in their order.
std::vector<Nodes> choices(std::size_t nodes, std::size_t count, std::size_t from = 0) {
  if (count == 0) return {{}};
  std::vector<Nodes> all;
  for (std::size_t first = from; first < nodes; ++first) {
    for (Nodes& rest : choices(nodes, count - 1, first + 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

TEST(Bisection, FindsTwoOrThreeBadNodesWhereverTheyAre) {
  const auto expect_found = [](std::size_t nodes, std::size_t count, std::size_t most_rounds) {
    for (const Nodes& bad : choices(nodes, count)) {
      SCOPED_TRACE(testing::PrintToString(bad));
      const Search found = search(nodes, with_bad(bad));
      EXPECT_EQ(found.bisection.bad(), bad) << nodes;
      EXPECT_EQ(found.bisection.good().size(), nodes - count) << nodes;
      EXPECT_LE(found.rounds, most_rounds) << nodes;
    }
  };
  for (const std::size_t nodes : {4U, 5U, 6U, 7U, 8U, 13U, 16U}) {
    expect_found(nodes, 2, 2 * doublings(nodes) + 1);
  }
  for (const std::size_t nodes : {6U, 7U, 8U, 11U}) {
    expect_found(nodes, 3, 2 * doublings(nodes) + 3);
  }
}

TEST(Bisection, PairsAllOfSixNodesUntilTwoAreGood) {
  for (const Nodes& bad : choices(6, 4)) EXPECT_EQ(search(6, with_bad(bad)).bisection.bad(), bad);
}

TEST(Bisection, FindsThreeBadNodesAmongTwoHundred) {
  for (std::size_t step = 1; step < 60; step += 6) {
    const Nodes bad{step, 2 * step, 3 * step + 20};
    const Search found = search(200, with_bad(bad));
    EXPECT_EQ(found.bisection.bad(), bad);
    EXPECT_LE(found.rounds, 2 * doublings(200));
  }
}

TEST(Bisection, NeverCallsANodeGoodWhereAllAreBad) {
  for (const std::size_t nodes : kSizes) {
    Nodes all;
    for (std::size_t node = 0; node < nodes; ++node) all.push_back(node);
    const Search found = search(nodes, with_bad(all));
    EXPECT_TRUE(found.bisection.good().empty());
    EXPECT_TRUE(found.bisection.bad().empty()) << "nothing shows that a helper is good";
    EXPECT_LE(found.rounds, doublings(nodes) + 5) << nodes;
  }
}

TEST(Bisection, LeavesTwoNodesUnresolved) {
  const Search found = search(2, with_bad({1}));
  EXPECT_EQ(found.rounds, 1U);
  EXPECT_EQ(found.bisection.unresolved(), (std::vector<Nodes>{{0, 1}}));
}

TEST(Bisection, EndsWithNodesThatGiveNoDataAsSilent) {
  for (const std::size_t nodes : kSizes) {
    const Search found = search(nodes, with_silent({nodes / 3}));
    EXPECT_EQ(found.bisection.silent(), Nodes{nodes / 3});
    EXPECT_TRUE(found.bisection.bad().empty());
  }
}

TEST(Bisection, SeparatesSilentNodesFromLowOnes) {
  const Search found = search(16, [](const Nodes& nodes) {
    if (has(nodes, 3)) return Outcome::NoData;
    return has(nodes, 12) ? Outcome::Low : Outcome::Good;
  });
  EXPECT_EQ(found.bisection.silent(), Nodes{3});
  EXPECT_EQ(found.bisection.bad(), Nodes{12});
}

TEST(Bisection, TakesAReportThatLacksAGroupAsNoData) {
  Bisection bisection(4);
  ASSERT_EQ(bisection.round().size(), 2U);
  bisection.report({Outcome::Good});
  const auto groups = bisection.round();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].members, Nodes{2});
}

TEST(Bisection, LeavesTheNodesOfABadLinkUnresolvedAndBlamesNoNode) {
  for (const std::size_t nodes : {4U, 7U, 8U, 16U}) {
    for (const Nodes& link : choices(nodes, 2)) {
      SCOPED_TRACE(testing::PrintToString(link));
      const Search found = search(nodes, with_bad_link(link[0], link[1]));
      EXPECT_TRUE(found.bisection.bad().empty()) << nodes;
      const bool same_half = (link[0] < nodes / 2) == (link[1] < nodes / 2);
      ASSERT_EQ(found.bisection.unresolved().size(), same_half ? 1U : 0U)
          << "no group that is measured has a link between the halves";
      for (const Nodes& group : found.bisection.unresolved()) {
        EXPECT_TRUE(has(group, link[0]) && has(group, link[1]));
      }
    }
  }
}

TEST(Bisection, WaitsForAHelperOfAnotherPartRatherThanTakeItsOwn) {
  // Of six nodes 2 and 3 are bad, 5 gives nothing, and the link of 0 and 4 is bad: 4 itself is good
  // with node 1.
  const Search found = search(6, [](const Nodes& together) {
    if (has(together, 5)) return Outcome::NoData;
    const bool low = has(together, 2) || has(together, 3) || (has(together, 0) && has(together, 4));
    return low ? Outcome::Low : Outcome::Good;
  });
  EXPECT_EQ(found.bisection.bad(), (Nodes{2, 3}));
  EXPECT_EQ(found.bisection.silent(), Nodes{5});
  EXPECT_EQ(found.bisection.good(), (Nodes{0, 1, 4}));
}

TEST(Bisection, WaitsWhereHelpersAreShort) {
  Nodes bad;
  for (std::size_t node = 2; node < 16; ++node) bad.push_back(node);
  const Search found = search(16, with_bad(bad));
  EXPECT_EQ(found.bisection.bad(), bad);
  EXPECT_EQ(found.bisection.good(), (Nodes{0, 1}));
  EXPECT_LE(found.rounds, 4U + 14U / 2U);
}

}  // namespace
}  // namespace busbar::judge
