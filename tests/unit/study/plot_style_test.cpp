// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_style.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

PlotStyle style_of(const std::string& system, std::size_t line = 0, bool simulated = false) {
  const std::vector<std::string> systems{"dgx-2", "ac922", "dgx-1v", "exxact-ts4", "other"};
  return plot_style(SeriesStyles(systems).of(system, line), simulated);
}

TEST(PlotStyle, GivesThePapersSystemsThePapersColoursAndShapes) {
  EXPECT_EQ(style_of("dgx-2"), (PlotStyle{0x009E73, 13, 1}));
  EXPECT_EQ(style_of("ac922"), (PlotStyle{0x0072B2, 5, 1}));
  EXPECT_EQ(style_of("dgx-1v"), (PlotStyle{0xE69F00, 9, 1}));
  EXPECT_EQ(style_of("exxact-ts4"), (PlotStyle{0xD55E00, 7, 1}));
}

TEST(PlotStyle, DashesWhatIsSimulatedInTheSameColour) {
  EXPECT_EQ(style_of("dgx-2", 0, true), (PlotStyle{0x009E73, 13, 2}));
}

TEST(PlotStyle, DistinguishesLinesOfASystemByPointAndDash) {
  EXPECT_EQ(style_of("dgx-2", 1).colour, style_of("dgx-2").colour);
  for (const std::size_t line : {1U, 2U, 3U, 4U}) {
    EXPECT_NE(style_of("dgx-2", line).point, style_of("dgx-2", line - 1).point);
    EXPECT_NE(style_of("dgx-2", line).dash, style_of("dgx-2", line - 1).dash);
  }
}

}  // namespace
}  // namespace busbar
