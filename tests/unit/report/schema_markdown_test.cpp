// SPDX-License-Identifier: BSD-3-Clause
#include "report/schema_markdown.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/record.hpp"

namespace busbar {
namespace {

TEST(SchemaMarkdown, HasALineForEveryColumn) {
  const std::string text = schema_markdown();
  for (const RecordField& field : record_fields()) {
    const std::string line =
        fmt::format("\n| `{}` | {} | {} |\n", field.name, field.unit, field.meaning);
    EXPECT_NE(text.find(line), std::string::npos) << field.name;
  }
}

TEST(SchemaMarkdown, SaysWhatItIsMadeFrom) {
  EXPECT_NE(schema_markdown().find("src/model/record.cpp"), std::string::npos);
}

}  // namespace
}  // namespace busbar
