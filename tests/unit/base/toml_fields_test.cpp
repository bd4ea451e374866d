// SPDX-License-Identifier: BSD-3-Clause
#include "base/toml_fields.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar {
namespace {

std::string complaint(const std::string& text) {
  try {
    check_toml_characters(text, "my.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return {};
}

TEST(TomlCharacters, LetsEverythingBeInQuotesAndComments) {
  EXPECT_EQ(complaint(""), "");
  EXPECT_EQ(complaint("a = \"größer\" # schöner\nb = 'groß' # \"\n"), "");
  EXPECT_EQ(complaint("a = \"\\\"ö\" # 'ö\nb = 'ö\\' # ö"), "");
  EXPECT_EQ(complaint("\xEF\xBB\xBF"
                      "a = 1"),
            "");
  EXPECT_EQ(complaint("a = \"\"\nb = ''\n"), "");
}

TEST(TomlCharacters, RefusesOthersElsewhere) {
  const std::string why = "characters beyond ASCII belong into quotes or comments";
  EXPECT_EQ(complaint("ö = 1"), "my.toml:1:1: " + why);
  EXPECT_EQ(complaint("# ö\na = \"ö\" ö"), "my.toml:2:9: " + why);
  EXPECT_EQ(complaint("a = \"\\\\\" ö"), "my.toml:1:10: " + why);
  EXPECT_EQ(complaint("a = 'x\\' ö"), "my.toml:1:10: " + why);
  EXPECT_EQ(complaint("a = 1 # x\nb = \xC2\xA0"
                      "1"),
            "my.toml:2:5: " + why);
}

TEST(TomlCharacters, RefusesTextsOverSeveralLines) {
  const std::string why = "texts over several lines are not for system files";
  EXPECT_EQ(complaint("a = \"\"\"x\n\"\"\""), "my.toml:1:5: " + why);
  EXPECT_EQ(complaint("a = 1\nb = '''x'''"), "my.toml:2:5: " + why);
}

TEST(TomlCharacters, LeavesOpenQuotesToTheParser) { EXPECT_EQ(complaint("a = \"x\nö"), ""); }

}  // namespace
}  // namespace busbar
