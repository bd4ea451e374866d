// SPDX-License-Identifier: BSD-3-Clause
#include "report/series_style.hpp"

#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Names = std::vector<std::string>;
using Look = std::pair<std::string_view, Marker>;

Look look_of(const SeriesStyle& style) { return {style.colour, style.marker}; }

TEST(SeriesStyles, KeepThePapersLooksUnderAnyOfTheirNames) {
  struct Owner {
    const char* name;
    Look look;
  };
  for (const auto& [name, look] :
       {Owner{"DGX-2", {"#009e73", Marker::Diamond}}, Owner{"IBM-P9", {"#0072b2", Marker::Square}},
        Owner{"8335-gth", {"#0072b2", Marker::Square}},
        Owner{"AWS P3", {"#e69f00", Marker::Triangle}},
        Owner{"p3dn.24xlarge", {"#e69f00", Marker::Triangle}},
        Owner{"RTX", {"#d55e00", Marker::Circle}}}) {
    EXPECT_EQ(look_of(SeriesStyles(Names{name, "other"}).of(name)), look) << name;
  }
  for (const char* name : {"dgx-a100", "rtx-3090-pair", "p100-sxm2-x4", "vm", ""}) {
    EXPECT_EQ(look_of(SeriesStyles(Names{name, "zzz"}).of(name)), Look("#56b4e9", Marker::Down))
        << name;
  }
}

TEST(SeriesStyles, GiveNoTwoSystemsOneColourUpToEight) {
  for (const Names& systems :
       {Names{"DGX-1V", "HGX H100 (8)", "ABCI", "GCP", "H200", "p4de", "p5", "8x RTX 2080 Ti"},
        Names{"ac922", "ac922-x4", "dgx-2", "a", "b", "c", "d", "e"}}) {
    const SeriesStyles styles(systems);
    std::set<std::string_view> colours;
    for (const std::string& system : systems) {
      EXPECT_TRUE(colours.insert(styles.of(system).colour).second) << system;
    }
  }
}

TEST(SeriesStyles, GiveManySystemsLooksOfTheirOwn) {
  Names systems{"dgx-2"};
  for (int i = 0; i < 24; ++i) systems.push_back("system" + std::to_string(i));
  const SeriesStyles styles(systems);
  std::set<Look> looks;
  for (const std::string& system : systems) {
    EXPECT_TRUE(looks.insert(look_of(styles.of(system))).second) << system;
  }
}

TEST(SeriesStyles, DoNotDependOnTheOrderOfTheSystems) {
  const Names systems{"b", "dgx-2", "a", "c"};
  const Names turned{"c", "a", "dgx-2", "b"};
  for (const std::string& system : systems) {
    EXPECT_EQ(SeriesStyles(systems).of(system), SeriesStyles(turned).of(system)) << system;
  }
}

TEST(SeriesStyles, GiveTheLinesOfALoneSystemColours) {
  const Names one{"dgx-2"};
  const SeriesStyles styles(one);
  EXPECT_EQ(styles.of("dgx-2").colour, "#009e73");
  std::set<std::string_view> colours;
  for (std::size_t line = 0; line < 8; ++line) {
    EXPECT_TRUE(colours.insert(styles.of("dgx-2", line).colour).second) << line;
  }
  EXPECT_NE(styles.of("dgx-2", 8), styles.of("dgx-2", 0));
}

}  // namespace
}  // namespace busbar
