// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace busbar::topo {

/// What stands between blanks.
struct Word {
  std::string text{};
  std::size_t begin = 0;   ///< byte in the line as it is left
  std::size_t column = 1;  ///< byte in the line as it was, from 1
  [[nodiscard]] std::size_t end() const { return begin + text.size(); }
};

/// A line without what copying adds: colour codes (with or without their ESC byte), CR, and a
/// prefix of blanks, `#`, `*`, `>` and `|`.
struct TextLine {
  std::size_t number = 1;              ///< from 1
  std::string text{};                  ///< what is left, blanks at its end removed
  std::vector<std::size_t> columns{};  ///< of each byte of `text` in the line as it was, from 1
  std::vector<Word> words{};
  std::size_t indent = 0;  ///< display width of the prefix, tabs to 8
  [[nodiscard]] bool empty() const { return text.empty(); }
};

/// A place in a text: an origin (a file or a command) and a position in it.
struct TextPlace {
  std::string_view origin{};
  std::size_t line = 1;
  std::size_t column = 1;
};

/// Where a byte of `line.text` stands on a terminal, from 0, tabs to 8.
[[nodiscard]] std::size_t display_column(const TextLine& line, std::size_t byte);

/// The lines of a text, empty ones too.
[[nodiscard]] std::vector<TextLine> clean_lines(std::string_view text);

/// Error (Usage) "ORIGIN:LINE:COLUMN: what; mend" in one line; foreign bytes are made harmless.
[[nodiscard]] Error damaged(const TextPlace& place, std::string_view what, std::string_view mend);

/// A whole number without sign of at most nine digits, or nothing.
[[nodiscard]] std::optional<int> whole_number(std::string_view text);

/// A word as it may stand in a message: at most 40 bytes, in quotes.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace busbar::topo
