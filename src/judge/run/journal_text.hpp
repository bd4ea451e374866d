// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace busbar::judge {

/// A line of a journal, without its line end.
struct JournalTextLine {
  std::size_t number = 0;  ///< from 1
  std::string text{};
};

/// All whole lines that are not empty: what a killed run was writing last is left out. Throws Error
/// (Usage) where the file cannot be read.
[[nodiscard]] std::vector<JournalTextLine> journal_lines(const std::string& path);

/// The cells of a line by RFC 4180; no cell has a line end. Throws Error (Usage) that begins with
/// `place` where a quote is not closed.
[[nodiscard]] std::vector<std::string> journal_cells(const std::string& place,
                                                     const std::string& line);

}  // namespace busbar::judge
