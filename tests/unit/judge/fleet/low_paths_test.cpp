// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_paths.hpp"

#include "base/text.hpp"

namespace busbar::judge {
namespace {

using IsLow = std::function<bool(std::size_t, std::size_t)>;

std::vector<JudgedPair> all_pairs(std::size_t nodes, const IsLow& is_low) {
  std::vector<JudgedPair> pairs;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) pairs.push_back({i, j, is_low(i, j)});
  }
  return pairs;
}

/// "leaf0 12/16" and "leaf0-leaf2 9/9" for all pairs of leaves of four nodes.
std::vector<std::string> found(std::size_t nodes, const IsLow& is_low) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < nodes; ++i) paths.push_back({fmt::format("leaf{}", i / 4)});
  return mapped(find_low_paths(paths, all_pairs(nodes, is_low)), [](const UnitFinding& one) {
    return fmt::format("{}{}{} {}/{}", one.unit.back(), one.other.empty() ? "" : "-",
                       one.other.empty() ? "" : one.other.back(), one.count.low, one.count.all);
  });
}

bool crosses_leaf(std::size_t leaf, std::size_t i, std::size_t j) {
  return (i / 4 == leaf) != (j / 4 == leaf);
}

TEST(LowPaths, AreUplinksOrThePathBetweenTwoLeavesAndNoneWhereItIsTheNodes) {
  EXPECT_THAT(found(16, [](auto, auto) { return false; }), IsEmpty());
  EXPECT_THAT(found(16, [](auto i, auto j) { return crosses_leaf(2, i, j); }),
              ElementsAre("leaf2 48/48"));
  EXPECT_THAT(
      found(20, [](auto i, auto j) { return crosses_leaf(1, i, j) || crosses_leaf(3, i, j); }),
      ElementsAre("leaf1 64/64", "leaf3 48/48"));
  EXPECT_THAT(found(8, [](auto i, auto j) { return i / 4 != j / 4; }),
              ElementsAre("leaf0-leaf1 16/16"));
  EXPECT_THAT(found(16, [](auto i, auto j) { return i / 4 == 0 && j / 4 == 3; }),
              ElementsAre("leaf0-leaf3 16/16"));
  // Three of four nodes of a leaf are slow, inside it, too.
  EXPECT_THAT(found(16, [](auto i, auto j) { return i < 3 || j < 3; }), IsEmpty());
  EXPECT_THAT(found(16, [](auto, auto) { return true; }), IsEmpty());
}

std::optional<LowCut> cut_of(const std::vector<JudgedPair>& pairs,
                             const std::vector<NodePath>& paths = std::vector<NodePath>(8)) {
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < paths.size(); ++i) nodes.push_back(fmt::format("h{}", i));
  return find_cut(nodes, paths, pairs);
}

bool crosses_four(std::size_t i, std::size_t j) { return (i < 4) != (j < 4); }

TEST(FindCut, IsBetweenTheOnlyTwoUnitsOfALevel) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < 8; ++i) paths.push_back({i < 4 ? "leaf0" : "leaf1"});
  const auto cut = cut_of(all_pairs(8, crosses_four), paths);
  ASSERT_TRUE(cut && cut->is_known);
  EXPECT_EQ(path_name(cut->path), "leaf0-leaf1");
  for (std::size_t i = 0; i < 8; ++i) paths[i] = {fmt::format("leaf{}", i / 2)};
  EXPECT_FALSE(cut_of(all_pairs(8, crosses_four), paths)->is_known);
}

TEST(FindCut, IsNoneOfLowNodesAndOfFewLinks) {
  const std::vector<NodePath> four(4);
  EXPECT_FALSE(cut_of(all_pairs(8, [](auto i, auto j) { return i == 3 || j == 3; })));
  EXPECT_FALSE(
      cut_of(all_pairs(8, [](auto i, auto j) { return (i + 1) / 2 == 2 || (j + 1) / 2 == 2; })));
  EXPECT_FALSE(cut_of(all_pairs(4, [](auto i, auto j) { return i == 1 || j == 1; }), four));
  EXPECT_FALSE(cut_of(all_pairs(4, [](auto i, auto j) { return i != 0 || j != 3; }), four));
  EXPECT_FALSE(cut_of(all_pairs(8, [](auto i, auto j) { return i == 0 && j > 5; })));
  EXPECT_FALSE(cut_of(all_pairs(8, [](auto, auto) { return true; })));
  EXPECT_FALSE(cut_of(all_pairs(8, [](auto i, auto j) { return (i * 5 + j) % 3 == 0; })));
}

TEST(FindCut, IsNoneOfAFewPairsAmongManyNodes) {
  // Each of the low ones may be bad by itself.
  EXPECT_FALSE(cut_of({{0, 5, true}, {1, 4, true}, {2, 4, true}, {3, 6, false}, {1, 2, false}},
                      std::vector<NodePath>(7)));
}

}  // namespace
}  // namespace busbar::judge
