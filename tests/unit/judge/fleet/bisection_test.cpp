// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using Nodes = NodeNumbers;

/// Whether a cluster's nodes are good that measure together.
using Cluster = std::function<bool(const Nodes&)>;

bool has(const Nodes& nodes, std::size_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

Cluster with(Nodes bad) {
  return [bad = std::move(bad)](const Nodes& group) {
    return std::none_of(bad.begin(), bad.end(), [&](std::size_t node) { return has(group, node); });
  };
}

/// A search to its end, and what its groups showed.
struct Search {
  std::size_t rounds = 0;
  std::map<Nodes, bool> seen{};
  Nodes good{};  ///< in a good group

  /// Nodes that were the only one of a low group that is in no good one.
  [[nodiscard]] Nodes bad() const {
    Nodes nodes;
    for (const auto& [group, is_good] : seen) {
      Nodes others = group;
      std::erase_if(others, [&](std::size_t node) { return has(good, node); });
      if (others.size() == 1 && !has(nodes, others[0])) nodes.push_back(others[0]);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }
  /// The smallest low group of which all nodes are in good ones.
  [[nodiscard]] Nodes unresolved() const {
    Nodes smallest;
    for (const auto& [group, is_good] : seen) {
      const bool low =
          !is_good && std::includes(good.begin(), good.end(), group.begin(), group.end());
      if (low && (smallest.empty() || group.size() < smallest.size())) smallest = group;
    }
    return smallest;
  }
};

void expect_disjoint(const std::vector<Nodes>& groups) {
  Nodes seen;
  for (const Nodes& group : groups) {
    EXPECT_GE(group.size(), 2U);
    EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
    for (const std::size_t node : group) {
      EXPECT_FALSE(has(seen, node)) << "twice in a round: " << node;
      seen.push_back(node);
    }
  }
}

Search search(std::size_t nodes, const Cluster& cluster) {
  Search found;
  const auto is_good = [&](const Nodes& group) -> std::optional<bool> {
    const auto known = found.seen.find(group);
    return known == found.seen.end() ? std::nullopt : std::optional(known->second);
  };
  for (auto groups = next_groups(nodes, is_good); !groups.empty();
       groups = next_groups(nodes, is_good)) {
    expect_disjoint(groups);
    for (const Nodes& group : groups) {
      found.seen[group] = cluster(group);
      if (found.seen[group]) found.good.insert(found.good.end(), group.begin(), group.end());
    }
    std::sort(found.good.begin(), found.good.end());
    found.good.erase(std::unique(found.good.begin(), found.good.end()), found.good.end());
    if (++found.rounds > 1000) {
      ADD_FAILURE() << "does not end";
      break;
    }
  }
  return found;
}

std::optional<bool> unknown(const Nodes& /*group*/) { return {}; }

std::size_t doublings(std::size_t nodes) {
  return static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(nodes))));
}

constexpr std::array<std::size_t, 16> kSizes{3,  4,  5,  6,  7,  8,   9,   15,
                                             16, 17, 31, 33, 64, 100, 129, 200};

TEST(Bisection, AsksForTwoHalvesAtOnce) {
  EXPECT_EQ(next_groups(5, unknown), (std::vector<Nodes>{{0, 1}, {2, 3, 4}}));
  EXPECT_EQ(next_groups(2, unknown), (std::vector<Nodes>{{0, 1}}));
}

TEST(Bisection, AsksForTheWholeRoundWhereAGroupOfItWasNotMeasured) {
  const auto half = [](const Nodes& group) {
    return group[0] == 0 ? std::optional(true) : std::nullopt;
  };
  EXPECT_EQ(next_groups(5, half), (std::vector<Nodes>{{0, 1}, {2, 3, 4}}));
}

TEST(Bisection, EndsAfterOneRoundWhereBothHalvesAreGood) {
  for (const std::size_t nodes : kSizes) {
    if (nodes == 3) continue;  // one waits for a helper
    const Search found = search(nodes, with({}));
    EXPECT_EQ(found.rounds, 1U);
    EXPECT_EQ(found.good.size(), nodes);
  }
}

TEST(Bisection, FindsOneBadNodeInLogarithmicallyManyRounds) {
  for (std::size_t nodes = 3; nodes <= 200; ++nodes) {
    for (std::size_t bad = 0; bad<nodes; bad += nodes> 20 ? 7 : 1) {
      const Search found = search(nodes, with({bad}));
      EXPECT_EQ(found.bad(), Nodes{bad}) << nodes;
      EXPECT_EQ(found.good.size(), nodes - 1) << nodes;
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
      const Search found = search(nodes, with(bad));
      EXPECT_EQ(found.bad(), bad) << nodes;
      EXPECT_EQ(found.good.size(), nodes - count) << nodes;
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
  for (const Nodes& bad : choices(6, 4)) EXPECT_EQ(search(6, with(bad)).bad(), bad);
}

TEST(Bisection, FindsThreeBadNodesAmongTwoHundred) {
  for (std::size_t step = 1; step < 60; step += 6) {
    const Nodes bad{step, 2 * step, 3 * step + 20};
    const Search found = search(200, with(bad));
    EXPECT_EQ(found.bad(), bad);
    EXPECT_LE(found.rounds, 2 * doublings(200));
  }
}

TEST(Bisection, NeverCallsANodeGoodWhereAllAreBad) {
  for (const std::size_t nodes : kSizes) {
    Nodes all;
    for (std::size_t node = 0; node < nodes; ++node) all.push_back(node);
    const Search found = search(nodes, with(all));
    EXPECT_TRUE(found.good.empty());
    EXPECT_TRUE(found.bad().empty()) << "nothing shows that a helper is good";
    EXPECT_LE(found.rounds, doublings(nodes) + 5) << nodes;
  }
}

TEST(Bisection, EndsWithTwoNodesThatAreLow) {
  const Search found = search(2, with({1}));
  EXPECT_EQ(found.rounds, 1U);
  EXPECT_TRUE(found.bad().empty());
}

TEST(Bisection, LeavesTheNodesOfABadLinkUnresolvedAndBlamesNoNode) {
  for (const std::size_t nodes : {4U, 7U, 8U, 16U}) {
    for (const Nodes& link : choices(nodes, 2)) {
      SCOPED_TRACE(testing::PrintToString(link));
      const auto has_link = [&](const Nodes& group) {
        return has(group, link[0]) && has(group, link[1]);
      };
      const Search found = search(nodes, [&](const Nodes& group) { return !has_link(group); });
      EXPECT_TRUE(found.bad().empty()) << nodes;
      EXPECT_EQ(found.good.size(), nodes);
      // No group that is measured has a link between the halves.
      const bool same_half = (link[0] < nodes / 2) == (link[1] < nodes / 2);
      EXPECT_EQ(has_link(found.unresolved()), same_half) << nodes;
    }
  }
}

TEST(Bisection, WaitsForAHelperOfAnotherPartRatherThanTakeItsOwn) {
  // Of six nodes 2, 3 and 5 are bad, and the link of 0 and 4 is: 4 itself is good with node 1.
  const Search found = search(6, [](const Nodes& group) {
    return with({2, 3, 5})(group) && !(has(group, 0) && has(group, 4));
  });
  EXPECT_EQ(found.bad(), (Nodes{2, 3, 5}));
  EXPECT_EQ(found.good, (Nodes{0, 1, 4}));
}

TEST(Bisection, WaitsWhereHelpersAreShort) {
  Nodes bad;
  for (std::size_t node = 2; node < 16; ++node) bad.push_back(node);
  const Search found = search(16, with(bad));
  EXPECT_EQ(found.bad(), bad);
  EXPECT_EQ(found.good, (Nodes{0, 1}));
  EXPECT_LE(found.rounds, 4U + 14U / 2U);
}

}  // namespace
}  // namespace busbar::judge
