// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/lists.hpp"

namespace busbar {

using View = std::string_view;
using Words = std::vector<std::string>;

/// Joins words with a separator.
[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view separator);

/// Joins the texts that `describe` makes of the items of any container.
template <class Items, class Describe>
[[nodiscard]] std::string join_each(const Items& items, std::string_view separator,
                                    Describe describe) {
  return join(mapped<std::string>(items, describe), separator);
}

/// Joins the texts of any container, such as a set.
template <class Items>
[[nodiscard]] std::string join_all(const Items& items, std::string_view separator) {
  return join(std::vector<std::string>(items.begin(), items.end()), separator);
}

/// "dgx-2", "dgx-2 and ac922", "a, b and c".
[[nodiscard]] std::string join_and(std::span<const std::string> words,
                                   std::string_view last = " and ");
/// "a, b and 3 more": at most so many of them.
[[nodiscard]] std::string join_some(std::span<const std::string> words, std::size_t most);
/// "a, b or c".
[[nodiscard]] std::string alternatives(std::span<const std::string> names);

/// Splits at every separator; n separators give n + 1 parts.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// The text without blanks and line ends at both sides.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The words between blanks.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

/// A line of a simple CSV: no cell has a comma.
struct PlacedCells {
  std::string place{};  ///< "FILE:LINE"
  std::vector<std::string> cells{};
};
/// Its lines, cells without blanks and quotes around them; empty lines and those that begin with
/// '#' are left out.
[[nodiscard]] std::vector<PlacedCells> placed_cells(std::string_view text, std::string_view file);

/// The text in lower case; ASCII letters only.
[[nodiscard]] std::string lower(std::string_view text);

/// "text" in double quotes: a quote or backslash behind a backslash, control characters as blanks.
[[nodiscard]] std::string quoted(std::string_view text);

/// The text with each `quote` in it twice, as in CSV and gnuplot.
[[nodiscard]] std::string doubled(std::string_view text, char quote);

/// The whole text as a number, or nothing: no blanks, no plus sign, no unit.
template <class Number, class... Base>
[[nodiscard]] std::optional<Number> to_number(std::string_view text, Base... base) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base...);
  return result.ec == std::errc{} && result.ptr == end ? std::optional(value) : std::nullopt;
}

/// Copies a text into an array that is sent between ranks; what does not fit is cut, and the array,
/// which must be zero before, stays zero-terminated.
template <std::size_t N>
void copy_text(std::string_view text, std::array<char, N>& to) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

/// Whether one of the texts is this one, to the letter.
[[nodiscard]] bool contains(std::span<const std::string> texts, std::string_view text);
/// Adds a text that is neither empty nor there already.
void add_new(std::vector<std::string>& texts, const std::string& text);

/// The one of `known` that is most like `word`, or nothing where none is near: for "did you mean".
[[nodiscard]] std::string nearest_word(std::string_view word, std::span<const std::string> known);

/// "1 rank", "16 ranks", "2 switches".
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  const char* plural = noun.ends_with("ch") ? "es" : "s";
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : plural);
}

/// @name Figures for people
/// @{
/// "10.2", "150", "0.98": three digits, without an exponent.
[[nodiscard]] std::string format_figure(double value);
/// "10.21", "1234": four digits, without an exponent.
[[nodiscard]] std::string figure_text(double value);
/// "80 %": of 1.
[[nodiscard]] std::string format_percent(double share);
/// @}

/// Line ends and other control characters as blanks.
[[nodiscard]] std::string without_controls(std::string_view text);

/// Characters of UTF-8, each a column of a terminal.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// One line: line ends and other control characters become blanks, so that a message, a fact or a
/// cell never spans two and no reader stumbles.
[[nodiscard]] std::string one_line(std::string_view text);

/// A line, broken at blanks before `columns` columns; what follows the first break is indented.
[[nodiscard]] std::string wrapped(std::string_view line, std::size_t columns, std::size_t indent);

/// The first line of a file without its line end, or empty where it cannot be read.
[[nodiscard]] std::string first_line_of(const std::string& path);

/// "0-3,8": ascending numbers as ranges; with zeros before them up to so many digits.
template <class Numbers = std::vector<int>>
[[nodiscard]] std::string format_ranges(const Numbers& numbers, char separator = ',',
                                        std::size_t digits = 0) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    auto next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (!text.empty()) text += separator;
    text += fmt::format("{:0{}}", *first, digits);
    if (last != first) text += fmt::format("-{:0{}}", *last, digits);
    first = next;
  }
  return text;
}
/// The numbers of such a text, in its order; nothing if it is none, or has over a million.
[[nodiscard]] std::optional<std::vector<int>> parse_ranges(std::string_view text,
                                                           char separator = ',');
/// All of a file, or nothing where it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// A path that stands in a file, where it can be opened: it is relative to that file.
[[nodiscard]] std::string beside(std::string_view origin, const std::string& path);

}  // namespace busbar
