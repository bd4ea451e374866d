// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

const toml::table kTable = parse_toml("name = \"GPU7-0\"", "my.toml");
const TomlFields kFields(kTable, "my.toml", "[[node]]");

Names names(const std::string& text) { return names_of_range(kFields, "name", text); }
Pairs pairs(const std::string& one, const std::string& other) {
  return pairs_of_ranges(kFields, "name", one, other);
}

TEST(NodeRanges, StandForNumberedNames) {
  EXPECT_EQ(names("GPU0-3"), (Names{"GPU0", "GPU1", "GPU2", "GPU3"}));
  EXPECT_EQ(names("mlx5_9-10"), (Names{"mlx5_9", "mlx5_10"}));
  for (const char* other : {"GPU0", "0-3", "switch-a", "0000:01:00.0", "GPU-3", "GPU0-", "-"}) {
    EXPECT_EQ(names(other), Names{other});
  }
  EXPECT_EQ(names("GPU0-255").size(), 256U);
}

TEST(NodeRanges, CountUpwardsToAtMost256Nodes) {
  for (const char* bad : {"GPU7-0", "GPU3-3", "GPU0-256", "GPU00-07", "GPU0-99999999999"}) {
    test::expect_failure(Status::Usage, {fmt::format("my.toml:1:8: \"{}\"", bad), "as GPU0-7"},
                         [&] { static_cast<void>(names(bad)); });
  }
}

TEST(NodeRanges, PairOneToOneInBlocksOrEachWithEach) {
  EXPECT_EQ(pairs("A", "B"), (Pairs{{"A", "B"}}));
  EXPECT_EQ(pairs("A0-1", "B4-5"), (Pairs{{"A0", "B4"}, {"A1", "B5"}}));
  EXPECT_EQ(pairs("A0-1", "B"), (Pairs{{"A0", "B"}, {"A1", "B"}}));
  EXPECT_EQ(pairs("A0-3", "B0-1"), (Pairs{{"A0", "B0"}, {"A1", "B0"}, {"A2", "B1"}, {"A3", "B1"}}));
  EXPECT_EQ(pairs("B0-1", "A0-3"), (Pairs{{"B0", "A0"}, {"B0", "A1"}, {"B1", "A2"}, {"B1", "A3"}}));
  EXPECT_EQ(pairs("A0-2", "A0-2"), (Pairs{{"A0", "A1"}, {"A0", "A2"}, {"A1", "A2"}}));
}

}  // namespace
}  // namespace busbar::topo
