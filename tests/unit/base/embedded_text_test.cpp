// SPDX-License-Identifier: BSD-3-Clause
#include "base/embedded_text.hpp"

namespace busbar {
namespace {

TEST(EmbeddedText, IsFoundByItsPathAndNothingOfAnUnknownOne) {
  EXPECT_TRUE(embedded_text("topo/systems/dgx-2.toml").find("dgx-2") != std::string_view::npos);
  EXPECT_TRUE(embedded_text("docs/options.md").starts_with("usage: "));
  EXPECT_TRUE(embedded_text("VERSION").ends_with('\n'));
  EXPECT_TRUE(embedded_text("docs/option.md").empty());
  EXPECT_TRUE(embedded_text("").empty());
}

TEST(EmbeddedText, ListsAFolderByPathAndNotThoseBelowOrBesideIt) {
  const std::vector<EmbeddedText> systems = embedded_texts("topo/systems");
  ASSERT_GE(systems.size(), 8U);
  EXPECT_EQ(systems.front().path, "topo/systems/a3-highgpu-8g.toml");
  EXPECT_TRUE(std::is_sorted(systems.begin(), systems.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  for (const EmbeddedText& system : systems) {
    EXPECT_TRUE(system.path.starts_with("topo/systems/")) << system.path;
    EXPECT_FALSE(system.text.empty()) << system.path;
  }
  EXPECT_TRUE(embedded_texts("topo").empty());
  EXPECT_TRUE(embedded_texts("topo/system").empty());
}

}  // namespace
}  // namespace busbar
