// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_style.hpp"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(PlotStyles, GiveThePapersSystemsThePapersColoursAndShapes) {
  const std::vector<std::string> systems{"dgx-2", "ac922", "dgx-1v", "exxact-ts4", "other"};
  const PlotStyles styles(systems);
  EXPECT_EQ(styles.of("dgx-2", 0, false), (PlotStyle{0x009E73, 13, 1}));
  EXPECT_EQ(styles.of("ac922", 0, false), (PlotStyle{0x0072B2, 5, 1}));
  EXPECT_EQ(styles.of("dgx-1v", 0, false), (PlotStyle{0xE69F00, 9, 1}));
  EXPECT_EQ(styles.of("exxact-ts4", 0, false), (PlotStyle{0xD55E00, 7, 1}));
}

TEST(PlotStyles, KnowThePapersSystemsUnderTheirOtherNames) {
  for (const char* name : {"DGX-2", "IBM-P9", "AWS P3", "p3dn.24xlarge", "RTX", "8335-gth"}) {
    EXPECT_TRUE(is_paper_system(name)) << name;
  }
  for (const char* name : {"dgx-a100", "rtx-3090-pair", "p100-sxm2-x4", "vm", ""}) {
    EXPECT_FALSE(is_paper_system(name)) << name;
  }
}

TEST(PlotStyles, DashWhatIsSimulatedInTheSameColour) {
  const std::vector<std::string> systems{"dgx-2"};
  const PlotStyles styles(systems);
  EXPECT_EQ(styles.of("dgx-2", 0, true), (PlotStyle{0x009E73, 13, 2}));
}

TEST(PlotStyles, TellTwoSystemsOfOneKindApartByTheMarker) {
  const std::vector<std::string> systems{"ac922", "ac922-x4"};
  const PlotStyles styles(systems);
  EXPECT_EQ(styles.of("ac922-x4", 0, false).colour, styles.of("ac922", 0, false).colour);
  EXPECT_NE(styles.of("ac922-x4", 0, false).point, styles.of("ac922", 0, false).point);
}

TEST(PlotStyles, OfUnknownSystemsFollowTheirNamesAndAreNoPapers) {
  const std::vector<std::string> one{"b", "dgx-2", "a"};
  const std::vector<std::string> two{"a", "b"};
  EXPECT_EQ(PlotStyles(one).of("b", 0, false), PlotStyles(two).of("b", 0, false));
  const std::vector<std::string> papers{"dgx-2", "ac922", "p3dn", "ts4"};
  std::set<std::pair<int, int>> taken;
  for (const std::string& paper : papers) {
    const PlotStyle style = PlotStyles(papers).of(paper, 0, false);
    taken.insert({style.colour, style.point});
  }
  for (int i = 0; i < 8; ++i) {
    const PlotStyle style = free_style(i, false);
    EXPECT_TRUE(taken.insert({style.colour, style.point}).second) << i;
  }
}

}  // namespace
}  // namespace busbar
