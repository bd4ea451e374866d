// SPDX-License-Identifier: BSD-3-Clause
#include "base/embedded_text.hpp"

#include <algorithm>

#include <gtest/gtest.h>

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
  const std::vector<EmbeddedText> scripts = embedded_texts("plots");
  ASSERT_GE(scripts.size(), 8U);
  EXPECT_EQ(scripts.front().path, "plots/busbw.gp");
  EXPECT_TRUE(std::is_sorted(scripts.begin(), scripts.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  for (const EmbeddedText& script : scripts) {
    EXPECT_TRUE(script.path.starts_with("plots/")) << script.path;
    EXPECT_FALSE(script.text.empty()) << script.path;
  }
  EXPECT_TRUE(embedded_texts("topo").empty());
  EXPECT_TRUE(embedded_texts("plot").empty());
}

}  // namespace
}  // namespace busbar
