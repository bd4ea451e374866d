// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input_file.hpp"

namespace busbar {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Levenshtein distance: insertions, deletions and substitutions of one character.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  auto row = first_numbers<std::size_t>(b.size() + 1);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string join(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string join_and(std::span<const std::string> words, std::string_view last) {
  if (words.size() < 2) return join(words, "");
  return join(words.first(words.size() - 1), ", ").append(last) + words.back();
}

std::string join_some(std::span<const std::string> words, std::size_t most) {
  if (words.size() <= most) return join(words, ", ");
  return fmt::format("{} and {} more", join(words.first(most), ", "), words.size() - most);
}

std::string alternatives(std::span<const std::string> names) { return join_and(names, " or "); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::vector<PlacedCells> placed_cells(std::string_view text, std::string_view file) {
  const auto bare = [](std::string_view cell) {
    cell = trim(cell);
    const bool is_quoted = cell.size() > 1 && cell.front() == '"' && cell.back() == '"';
    return is_quoted ? cell.substr(1, cell.size() - 2) : cell;
  };
  std::vector<PlacedCells> lines;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    lines.push_back({.place = fmt::format("{}:{}", file, number),
                     .cells = mapped<std::string>(split(line, ','), bare)});
  }
  return lines;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return result;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : without_controls(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string doubled(std::string_view text, char quote) {
  std::string result;
  for (const char c : text) result.append(c == quote ? 2 : 1, c);
  return result;
}

bool contains(std::span<const std::string> texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

void add_new(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && !contains(texts, text)) texts.push_back(text);
}

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kShortest = 3;  // of an abbreviation
  const auto whole = std::ranges::find_if(known, [&](const std::string& candidate) {
    return word.size() >= kShortest && candidate.starts_with(word);
  });
  if (whole != known.end()) return *whole;
  const auto distance = [&](const std::string& one) { return edit_distance(word, one); };
  const auto best = std::ranges::min_element(known, {}, distance);
  const std::size_t most = std::max<std::size_t>(2, word.size() / 3);
  return best != known.end() && distance(*best) <= most ? *best : std::string();
}

std::string format_figure(double value) {
  if (std::abs(value) >= 999.5) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string figure_text(double value) {
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string format_percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string without_controls(std::string_view text) {
  std::string line(text);
  const auto is_control = [](unsigned char letter) { return letter < ' ' || letter == 0x7f; };
  std::ranges::replace_if(line, is_control, ' ');
  return line;
}

std::size_t character_count(std::string_view text) {
  return count_of(text, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; });
}

std::string one_line(std::string_view text) { return std::string(trim(without_controls(text))); }

std::string wrapped(std::string_view line, std::size_t columns, std::size_t indent) {
  std::string text;
  std::size_t first = 0;  // the indentation of this part
  while (first + line.size() > columns) {
    const std::size_t at = line.rfind(' ', columns - first);
    if (at == std::string_view::npos || trim(line.substr(0, at)).empty()) break;
    text += fmt::format("{:{}}{}\n", "", first, line.substr(0, at));
    line.remove_prefix(at + 1);
    first = indent;
  }
  return text + fmt::format("{:{}}{}", "", first, line);
}

std::string first_line_of(const std::string& path) {
  std::ifstream file = open_input(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::vector<int>> parse_ranges(std::string_view text, char separator) {
  constexpr int kMost = 1'000'000;
  std::vector<int> numbers;
  for (const std::string& item : split(text, separator)) {
    const std::vector<std::string> ends = split(item, '-');
    const auto first = to_number<int>(ends.front());
    const auto last = to_number<int>(ends.back());
    if (!first || !last || *last < *first || ends.size() > 2) return {};
    if (*last - *first >= kMost - static_cast<int>(numbers.size())) return {};
    for (int i = 0; i <= *last - *first; ++i) numbers.push_back(*first + i);
  }
  return numbers;
}

std::optional<std::string> read_file(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  std::ifstream file = open_input(path);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 1U << 16U> part{};
  while (file && text.size() <= kMost) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file) return text;
  errno = EFBIG;
  return std::nullopt;
}

std::string beside(std::string_view origin, const std::string& path) {
  if (std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(origin).parent_path() / path).string();
}

}  // namespace busbar
