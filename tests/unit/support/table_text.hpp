// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "format/console_table.hpp"
#include "tests/unit/support/captured_stream.hpp"

namespace busbar::test {

[[nodiscard]] inline std::size_t words_in(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  return words.size() - static_cast<std::size_t>(std::count(words.begin(), words.end(), ""));
}

/// The lines of the table that are no comments.
[[nodiscard]] inline std::vector<std::string> rows(const CapturedStream& captured) {
  std::vector<std::string> rows = captured.lines();
  std::erase_if(rows, [](const std::string& line) { return line.starts_with('#'); });
  return rows;
}

/// The lines that records leave, without head and footers.
[[nodiscard]] inline std::vector<std::string> lines_of(const std::vector<Record>& records,
                                                       HalfJoiner::Halves halves = {}) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), halves);
  for (const Record& record : records) table.write({record});
  return captured.lines();
}

}  // namespace busbar::test
