// SPDX-License-Identifier: BSD-3-Clause
#include "base/toml_fields.hpp"

namespace busbar {
namespace {

std::string complaint(const std::string& text) {
  const auto failure = test::failure_of([&] { (void)parse_toml(text, "my.toml"); });
  EXPECT_EQ(failure.status, failure.message.empty() ? Status::Ok : Status::Usage);
  return failure.says("not valid TOML") ? "" : failure.message;
}

TEST(TomlCharacters, AllowsEverythingInQuotesAndComments) {
  EXPECT_EQ(complaint(""), "");
  EXPECT_EQ(complaint("a = \"größer\" # schöner\nb = 'groß' # \"\n"), "");
  EXPECT_EQ(complaint("a = \"\\\"ö\" # 'ö\nb = 'ö\\' # ö"), "");
  EXPECT_EQ(complaint("\xEF\xBB\xBF"
                      "a = 1"),
            "");
  EXPECT_EQ(complaint("a = \"\"\nb = ''\n"), "");
  EXPECT_EQ(complaint("a = \"x\nö"), "");  // the parser's
}

TEST(TomlCharacters, BoundTheDepthOfAKey) {
  const auto key = [](int parts) {
    std::string text = "a";
    for (int i = 1; i < parts; ++i) text += i % 2 == 0 ? " . \"a\"" : ".a";
    return text;
  };
  EXPECT_EQ(complaint("[" + key(64) + "]\n" + key(64) + " = 1"), "");
  EXPECT_EQ(complaint("a = \"" + key(99) + "\" # " + key(99)), "");
  EXPECT_EQ(complaint("a = [" + key(64) + ", " + key(64) + "]"), "");
  EXPECT_THAT(complaint("[" + key(65) + "]"), StartsWith("my.toml:1:"));
  EXPECT_THAT(complaint("a = 1\n" + key(50000) + " = 1"), StartsWith("my.toml:2:"));
}

TEST(TomlCharacters, RefusesOthersElsewhereAndTextsOverSeveralLines) {
  EXPECT_THAT(complaint("ö = 1"), StartsWith("my.toml:1:1: "));
  EXPECT_THAT(complaint("# ö\na = \"ö\" ö"), StartsWith("my.toml:2:9: "));
  EXPECT_THAT(complaint("a = \"\\\\\" ö"), StartsWith("my.toml:1:10: "));
  EXPECT_THAT(complaint("a = 'x\\' ö"), StartsWith("my.toml:1:10: "));
  EXPECT_THAT(complaint("a = 1 # x\nb = \xC2\xA0"
                        "1"),
              StartsWith("my.toml:2:5: "));
  // Texts over several lines:
  EXPECT_THAT(complaint("a = \"\"\"x\n\"\"\""), StartsWith("my.toml:1:5: "));
  EXPECT_THAT(complaint("a = 1\nb = '''x'''"), StartsWith("my.toml:2:5: "));
}

}  // namespace
}  // namespace busbar
