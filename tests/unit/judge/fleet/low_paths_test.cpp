// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/low_paths.hpp"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "leaf0 12/16" and "leaf0-leaf2 9/9" for all pairs of leaves of four nodes.
std::vector<std::string> found(std::size_t nodes,
                               const std::function<bool(std::size_t, std::size_t)>& is_low) {
  std::vector<NodePath> paths;
  for (std::size_t i = 0; i < nodes; ++i) paths.push_back({fmt::format("leaf{}", i / 4)});
  std::vector<PairValue> pairs;
  std::vector<bool> low;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) {
      pairs.push_back({.first = i, .second = j, .value = 1});
      low.push_back(is_low(i, j));
    }
  }
  return mapped(find_low_paths(paths, pairs, low), [](const UnitFinding& one) {
    return fmt::format("{}{}{} {}/{}", one.unit.back(), one.other.empty() ? "" : "-",
                       one.other.empty() ? "" : one.other.back(), one.low, one.pairs);
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

}  // namespace
}  // namespace busbar::judge
