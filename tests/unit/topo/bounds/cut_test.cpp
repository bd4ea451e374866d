// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/cut.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Over all parts of the nodes that have some terminals and lack some.
double brute_force(const std::vector<FlowLink>& links, int nodes,
                   const std::vector<int>& terminals) {
  double least = kInfinity;
  for (unsigned part = 0; part < 1U << static_cast<unsigned>(nodes); ++part) {
    const auto within = [&](int node) { return (part >> static_cast<unsigned>(node) & 1U) != 0; };
    std::size_t inside = 0;
    for (const int terminal : terminals) inside += within(terminal) ? 1U : 0U;
    if (inside == 0 || inside == terminals.size()) continue;
    double crossing = 0;
    for (const FlowLink& link : links) {
      if (within(link.from) && !within(link.to)) crossing += link.capacity;
    }
    least = std::min(least, crossing);
  }
  return least;
}

TEST(MinimumCut, AgreesWithAllPartsOfTheNodes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int> node(0, 8);
    std::uniform_real_distribution<double> width(1, 100);
    std::vector<FlowLink> links;
    for (int k = 0; k < 30; ++k) {
      FlowLink link{.from = node(engine), .to = node(engine), .capacity = width(engine)};
      if (k % 10 == 9) link.capacity = kInfinity;
      if (link.from != link.to) links.push_back(link);
    }
    const std::vector<int> terminals{0, 2, 3, 7};
    const Cut cut = minimum_cut(links, terminals);
    const double expected = brute_force(links, 9, terminals);
    if (std::isinf(expected)) {
      EXPECT_TRUE(std::isinf(cut.value)) << seed;
    } else {
      EXPECT_NEAR(cut.value, expected, 1e-8) << seed;
    }
  }
}

TEST(MinimumCut, NamesTheLinksThatCross) {
  // Two cliques on an infinite bus each, joined by a link of 32 one way and 20 the other.
  const std::vector<FlowLink> links{{0, 1, 75},        {1, 0, 75},       {2, 3, 75}, {3, 2, 75},
                                    {0, 4, 75},        {4, 0, 75},       {2, 5, 75}, {5, 2, 75},
                                    {4, 5, 32},        {5, 4, 20},       {1, 4, 75}, {4, 1, 75},
                                    {3, 5, kInfinity}, {5, 3, kInfinity}};
  const Cut cut = minimum_cut(links, std::vector<int>{0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(cut.value, 20);
  EXPECT_EQ(cut.links, std::vector<int>{9});
}

TEST(MinimumCut, FindsTheOnlyLinkThatHasALimit) {
  const std::vector<FlowLink> links{{0, 1, 5}, {1, 0, kInfinity}};
  for (const std::vector<int>& ends : {std::vector{0, 1}, std::vector{1, 0}}) {
    const Cut cut = minimum_cut(links, ends);
    EXPECT_DOUBLE_EQ(cut.value, 5);
    EXPECT_EQ(cut.links, std::vector<int>{0});
  }
}

TEST(MinimumCut, OfSeveralEqualOnesIsTheFirst) {
  const std::vector<FlowLink> chain{{.from = 0, .to = 1, .capacity = 10},
                                    {.from = 1, .to = 0, .capacity = 10},
                                    {.from = 1, .to = 2, .capacity = 10},
                                    {.from = 2, .to = 1, .capacity = 10}};
  EXPECT_EQ(minimum_cut(chain, std::vector{0, 1, 2}).links, std::vector<int>{0});
}

TEST(MinimumCut, IsZeroBetweenPartsThatNothingJoins) {
  const std::vector<FlowLink> links{{0, 1, 5}, {1, 0, 5}};
  EXPECT_EQ(minimum_cut(links, std::vector<int>{0, 1, 2}).value, 0);
}

}  // namespace
}  // namespace busbar::topo
