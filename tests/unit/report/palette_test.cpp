// SPDX-License-Identifier: BSD-3-Clause
#include "report/palette.hpp"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Names = std::vector<std::string>;
using Look = std::pair<int, int>;

Look look_of(const CurveStyle& style) { return {style.colour, style.point}; }

TEST(Palette, KeepThePapersLooksUnderAnyOfTheirNames) {
  struct Owner {
    const char* name;
    Look look;
  };
  for (const auto& [name, look] :
       {Owner{"DGX-2", {0x009E73, 13}}, Owner{"IBM-P9", {0x0072B2, 5}},
        Owner{"8335-gth", {0x0072B2, 5}}, Owner{"AWS P3", {0xE69F00, 9}},
        Owner{"p3dn.24xlarge", {0xE69F00, 9}}, Owner{"RTX", {0xD55E00, 7}}}) {
    EXPECT_EQ(look_of(Palette(Names{name, "other"}).of(name)), look) << name;
  }
  for (const char* name : {"dgx-a100", "rtx-3090-pair", "p100-sxm2-x4", "vm", ""}) {
    EXPECT_EQ(look_of(Palette(Names{name, "zzz"}).of(name)), Look(0x56B4E9, 11)) << name;
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
