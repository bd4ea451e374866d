// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::topo {

/// What stands between blanks.
struct Word {
  std::string text{};
  std::size_t line = 1;    ///< from 1
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
  /// No word, one past the last byte.
  [[nodiscard]] Word end() const;
};

/// Where a text is from.
struct SmiOrigin {
  std::string_view name{};     ///< a file or a command
  std::string_view command{};  ///< that prints such a text: "nvidia-smi topo -m"

  /// Error (Usage) in one line: "NAME:LINE:COLUMN: what; save all of the output again: ...".
  template <class... Args>
  [[nodiscard]] Error fault(const Word& at, fmt::format_string<Args...> what,
                            Args&&... args) const {
    return usage_error("{}:{}:{}: {}; save all of the output again: {} > FILE", name, at.line,
                       at.column, fmt::format(what, std::forward<Args>(args)...), command);
  }
};

/// The lines of a text, empty ones too.
[[nodiscard]] std::vector<TextLine> clean_lines(std::string_view text);

/// Whether the driver says this beside what was asked for.
[[nodiscard]] bool is_remark(const TextLine& line);

/// A whole number without sign of at most nine digits, or nothing.
[[nodiscard]] std::optional<int> whole_number(std::string_view text);

/// A word as it may stand in a message: at most 40 bytes, in quotes, foreign bytes made harmless.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace busbar::topo
