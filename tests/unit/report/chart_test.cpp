// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart.hpp"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/palette.hpp"

namespace busbar {
namespace {

using Curves = std::vector<ChartRange>;

TEST(LogAxis, IsChosenWherePeaksDifferByMoreThanThirtyTimes) {
  EXPECT_FALSE(log_axis_low(Curves{{1, 10}, {1, 290}}));
  EXPECT_TRUE(log_axis_low(Curves{{1, 10}, {1, 310}}));
  EXPECT_FALSE(log_axis_low(Curves{{1, 10}, {1, 310}}, false));
  EXPECT_TRUE(log_axis_low(Curves{{1, 10}}, true));
  EXPECT_FALSE(log_axis_low(Curves{}, true));
}

TEST(LogAxis, BeginsAtTheLowestRateOrAtAThreeHundredthOfTheLowestPeak) {
  EXPECT_DOUBLE_EQ(*log_axis_low(Curves{{1, 10}, {2, 400}}), 1);
  EXPECT_DOUBLE_EQ(*log_axis_low(Curves{{0.0001, 3}, {2, 400}}), 0.01);
}

TEST(SizeTicks, AreNamedAWholePowerOfTwoApart) {
  const std::vector<ChartTick> ticks = size_ticks({.low = 1024 / 1.25, .high = 65536 * 1.25}, 4);
  ASSERT_EQ(ticks.size(), 7U);
  EXPECT_EQ(ticks.front().name, "1 KiB");
  EXPECT_TRUE(ticks[1].minor);
  EXPECT_EQ(ticks[2].name, "4 KiB");
  EXPECT_DOUBLE_EQ(ticks.back().at, 65536);
}

TEST(LogTicks, NameDecadesAlsoTwoAndFiveOfFew) {
  const auto names_of = [](double low, double high) {
    std::string names;
    for (const ChartTick& tick : log_ticks({.low = low, .high = high})) {
      if (!tick.minor) names += tick.name + ' ';
    }
    return names;
  };
  EXPECT_EQ(names_of(0.1, 10), "0.1 0.2 0.5 1 2 5 10 ");
  EXPECT_EQ(names_of(0.1, 1000), "0.1 1 10 100 1000 ");
}

TEST(NameTicks, LeaveOutEmptyNamesAndShortenLongOnes) {
  const std::vector<ChartTick> ticks = name_ticks({.names = {"", std::string(50, 'x'), "b"}});
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_EQ(ticks[0].name, std::string(36, 'x') + "…");
  EXPECT_DOUBLE_EQ(ticks[1].at, 2);
}

using Names = std::vector<std::string>;
using Look = std::pair<int, int>;

Look look_of(const CurveStyle& style) { return {style.colour, style.point}; }

TEST(Palette, KeepThePapersLooksUnderAnyOfTheirNames) {
  const std::vector<std::pair<Names, Look>> owners{
      {{"DGX-2"}, {0x009E73, 13}},
      {{"IBM-P9", "8335-gth"}, {0x0072B2, 5}},
      {{"AWS P3", "p3dn.24xlarge"}, {0xE69F00, 9}},
      {{"RTX"}, {0xD55E00, 7}},
      {{"dgx-a100", "rtx-3090-pair", "p100-sxm2-x4", "vm", ""}, {0x56B4E9, 11}}};
  for (const auto& [names, look] : owners) {
    for (const std::string& name : names) {
      EXPECT_EQ(look_of(Palette(Names{name, "zzz"}).of(name)), look) << name;
    }
  }
}

TEST(Palette, GiveNoTwoSystemsOneColourUpToEight) {
  for (const Names& systems :
       {Names{"DGX-1V", "HGX H100 (8)", "ABCI", "GCP", "H200", "p4de", "p5", "8x RTX 2080 Ti"},
        Names{"ac922", "ac922-x4", "dgx-2", "a", "b", "c", "d", "e"}}) {
    const Palette styles(systems);
    std::set<int> colours;
    for (const std::string& system : systems) {
      EXPECT_TRUE(colours.insert(styles.of(system).colour).second) << system;
    }
  }
}

TEST(Palette, GiveManySystemsLooksOfTheirOwn) {
  Names systems{"dgx-2"};
  for (int i = 0; i < 24; ++i) systems.push_back("system" + std::to_string(i));
  const Palette styles(systems);
  std::set<Look> looks;
  for (const std::string& system : systems) {
    EXPECT_TRUE(looks.insert(look_of(styles.of(system))).second) << system;
  }
}

TEST(Palette, DoNotDependOnTheOrderOfTheSystems) {
  const Names systems{"b", "dgx-2", "a", "c"};
  const Names turned{"c", "a", "dgx-2", "b"};
  for (const std::string& system : systems) {
    EXPECT_EQ(Palette(systems).of(system), Palette(turned).of(system)) << system;
  }
}

TEST(Palette, GiveTheLinesOfALoneSystemColours) {
  const Names one{"dgx-2"};
  const Palette styles(one);
  EXPECT_EQ(styles.of("dgx-2").colour, 0x009E73);
  std::set<int> colours;
  for (std::size_t line = 0; line < 8; ++line) {
    EXPECT_TRUE(colours.insert(styles.of("dgx-2", line).colour).second) << line;
  }
  EXPECT_NE(styles.of("dgx-2", 8), styles.of("dgx-2", 0));
}

TEST(Palette, DistinguishesLinesOfASystemByPointAndDash) {
  const Palette styles(Names{"dgx-2", "other"});
  EXPECT_EQ(styles.of("dgx-2", 0, true), (CurveStyle{0x009E73, 13, 2})) << "simulated";
  for (const std::size_t line : {1U, 2U, 3U, 4U}) {
    EXPECT_EQ(styles.of("dgx-2", line).colour, 0x009E73);
    EXPECT_NE(styles.of("dgx-2", line).point, styles.of("dgx-2", line - 1).point);
    EXPECT_NE(styles.of("dgx-2", line).dash, styles.of("dgx-2", line - 1).dash);
  }
}

TEST(ScaleColour, GoesFromDarkToLight) {
  EXPECT_EQ(scale_colour(0), 0x00224E);
  EXPECT_EQ(scale_colour(1), 0xFEE838);
  EXPECT_EQ(scale_colour(-1), scale_colour(0));
}

}  // namespace
}  // namespace busbar
