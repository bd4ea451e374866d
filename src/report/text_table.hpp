// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace busbar {

/// Cells as they are shown; an empty one is shown as "-": there is no value.
struct TextTable {
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};
};

/// Columns under their names, numbers and sizes at the right.
[[nodiscard]] std::string plain_table(const TextTable& table);
/// The same as Markdown.
[[nodiscard]] std::string markdown_table(const TextTable& table);

}  // namespace busbar
