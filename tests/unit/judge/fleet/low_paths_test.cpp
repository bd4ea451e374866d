// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_paths.hpp"

#include <cmath>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// "leaf0 12/16" and "leaf0-leaf2 9/9" for all pairs of leaves of four nodes.
std::vector<std::string> found(std::size_t nodes,
                               const std::function<bool(std::size_t, std::size_t)>& is_low) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < nodes; ++i) paths.push_back({fmt::format("leaf{}", i / 4)});
  std::vector<JudgedPair> pairs;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) {
      pairs.push_back({i, j, is_low(i, j)});
    }
  }
  return mapped(find_low_paths(paths, pairs), [](const UnitFinding& one) {
    return fmt::format("{}{}{} {}/{}", one.unit.back(), one.other.empty() ? "" : "-",
                       one.other.empty() ? "" : one.other.back(), one.count.low, one.count.all);
  });
}

bool crosses_leaf(std::size_t leaf, std::size_t i, std::size_t j) {
  return (i / 4 == leaf) != (j / 4 == leaf);
}

TEST(LowPaths, AreTheUplinkOfALeafOrThePathBetweenTheOnlyTwo) {
  EXPECT_THAT(found(16, [](auto, auto) { return false; }), IsEmpty());
  EXPECT_THAT(found(16, [](auto i, auto j) { return crosses_leaf(2, i, j); }),
              ElementsAre("leaf2 48/48"));
  EXPECT_THAT(found(8, [](auto i, auto j) { return i / 4 != j / 4; }),
              ElementsAre("leaf0-leaf1 16/16"));
}

TEST(LowPaths, AreOnePathBetweenTwoOfManyLeaves) {
  EXPECT_THAT(found(16, [](auto i, auto j) { return i / 4 == 0 && j / 4 == 3; }),
              ElementsAre("leaf0-leaf3 16/16"));
}

TEST(LowPaths, AreTwoUplinksWhereTwoAreLow) {
  EXPECT_THAT(
      found(20, [](auto i, auto j) { return crosses_leaf(1, i, j) || crosses_leaf(3, i, j); }),
      ElementsAre("leaf1 64/64", "leaf3 48/48"));
}

TEST(LowPaths, AreNoneWhereItIsTheNodes) {
  // Three of four nodes of a leaf are slow, inside it, too.
  EXPECT_THAT(found(16, [](auto i, auto j) { return i < 3 || j < 3; }), IsEmpty());
  EXPECT_THAT(found(16, [](auto, auto) { return true; }), IsEmpty());
}

using IsLow = std::function<bool(std::size_t, std::size_t)>;

/// All pairs of so many nodes, h0 and on.
struct CutCase {
  std::vector<std::string> nodes{};
  std::vector<JudgedPair> pairs{};

  CutCase(std::size_t count, const IsLow& is_low) {
    for (std::size_t j = 0; j < count; ++j) {
      nodes.push_back(fmt::format("h{}", j));
      for (std::size_t i = 0; i < j; ++i) {
        pairs.push_back({i, j, is_low(i, j)});
      }
    }
  }

  [[nodiscard]] std::optional<LowCut> find(const std::vector<NodePath>& paths = {}) const {
    return find_cut(nodes, paths.empty() ? std::vector<NodePath>(nodes.size()) : paths, pairs);
  }
};

bool crosses_four(std::size_t i, std::size_t j) { return (i < 4) != (j < 4); }

TEST(FindCut, NamesBothPartsOfSomeOrAllLowPairs) {
  for (const std::size_t every : {1U, 2U}) {
    const auto cut = CutCase(8, [&](std::size_t i, std::size_t j) {
                       return crosses_four(i, j) && (i + j) % every == 0;
                     }).find();
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut_name(cut->path), "links h[0-3] - h[4-7]");
    EXPECT_EQ(cut->path.count.low, 16 / every);
    EXPECT_EQ(cut->path.count.all, 16U);
    EXPECT_FALSE(cut->is_known);
    EXPECT_TRUE(is_cut_name(cut_name(cut->path)));
  }
}

TEST(FindCut, IsBetweenTheOnlyTwoUnitsOfALevel) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < 8; ++i) paths.push_back({i < 4 ? "leaf0" : "leaf1"});
  const auto cut = CutCase(8, crosses_four).find(paths);
  ASSERT_TRUE(cut && cut->is_known);
  EXPECT_EQ(path_name(cut->path), "leaf0-leaf1");
  for (std::size_t i = 0; i < 8; ++i) paths[i] = {fmt::format("leaf{}", i / 2)};
  EXPECT_FALSE(CutCase(8, crosses_four).find(paths)->is_known);
}

TEST(FindCut, IsNoneOfLowNodesAndOfFewLinks) {
  const auto of = [](std::vector<std::size_t> bad) {
    return [bad = std::move(bad)](std::size_t i, std::size_t j) {
      return std::ranges::count(bad, i) + std::ranges::count(bad, j) > 0;
    };
  };
  EXPECT_FALSE(CutCase(8, of({3})).find());
  EXPECT_FALSE(CutCase(8, of({3, 4})).find());
  EXPECT_FALSE(CutCase(4, of({1})).find());
  EXPECT_FALSE(CutCase(4, of({1, 2})).find());
  EXPECT_FALSE(CutCase(8, [](std::size_t i, std::size_t j) { return i == 0 && j > 5; }).find());
  EXPECT_FALSE(CutCase(8, [](std::size_t, std::size_t) { return true; }).find());
  EXPECT_FALSE(
      CutCase(8, [](std::size_t i, std::size_t j) { return (i * 5 + j) % 3 == 0; }).find());
}

TEST(FindCut, IsNoneOfAFewPairsAmongManyNodes) {
  CutCase few(7, [](std::size_t, std::size_t j) { return j == 4; });
  few.pairs = {{0, 5, true}, {1, 4, true}, {2, 4, true}, {3, 6, false}, {1, 2, false}};
  EXPECT_FALSE(few.find()) << "each of the low ones may be bad by itself";
}

TEST(FindFleetCut, HasItsEffectAndIsNoneOfAHealthyFleet) {
  const auto of = [](double across) {
    const CutCase all(8, crosses_four);
    FleetRates rates{.paths = std::vector<NodePath>(8), .launches = 3};
    for (std::size_t launch = 0; launch < 3; ++launch) {
      for (const auto& [first, second, low] : all.pairs) {
        rates.pairs.push_back(
            {first, second, launch, std::log(low ? across : 1.0) + static_cast<double>(launch)});
      }
    }
    return find_fleet_cut(all.nodes, rates, 0.2);
  };
  ASSERT_TRUE(of(0.5));
  EXPECT_NEAR(of(0.5)->path.log_effect, std::log(0.5), 1e-9);
  EXPECT_FALSE(of(0.95));
}

}  // namespace
}  // namespace busbar::judge
