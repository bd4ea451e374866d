// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// Joins words with a separator.
[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view separator);

/// Splits at every separator; n separators give n + 1 parts.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// The text without blanks and line ends at both sides.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The one of `known` that is most like `word`, or nothing where none is near: for "did you mean".
[[nodiscard]] std::string nearest_word(std::string_view word, std::span<const std::string> known);

/// "1 rank", "16 ranks".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// One line: line ends and other control characters become blanks, so that a message, a fact or a
/// cell never spans two and no reader stumbles.
[[nodiscard]] std::string one_line(std::string_view text);

/// The first line of a file without its line end, or empty where it cannot be read.
[[nodiscard]] std::string first_line_of(const std::string& path);

/// "0-3,8": ascending numbers as ranges.
[[nodiscard]] std::string format_ranges(const std::vector<int>& numbers);

}  // namespace busbar
