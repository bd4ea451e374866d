// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cctype>
#include <iconv.h>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/nccl_choice.hpp"
#include "study/import/log.hpp"

namespace busbar::study {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The text in UTF-8, without its mark of the order of bytes: PowerShell's `>` writes UTF-16. What
/// is half a pair or half a unit is left out. Nothing where it is UTF-8 already.
std::optional<std::string> as_utf8(View text) {
  if (text.starts_with("\xef\xbb\xbf")) return std::string(text.substr(3));
  const bool little = text.starts_with("\xff\xfe");
  if (!little && !text.starts_with("\xfe\xff")) return std::nullopt;
  const std::unique_ptr<void, int (*)(void*)> converter(
      ::iconv_open("UTF-8//IGNORE", little ? "UTF-16LE" : "UTF-16BE"), ::iconv_close);
  std::string units(text.substr(2));
  char* from = units.data();
  std::size_t left = units.size();
  std::string plain(left * 2, ' ');  // three bytes at most for two, four for four
  char* to = plain.data();
  std::size_t room = plain.size();
  ::iconv(converter.get(), &from, &left, &to, &room);
  plain.resize(plain.size() - room);
  return plain;
}

/// Colours of terminals: ESC [ ... letter.
std::string without_colours(View text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      if (text[i] != '\r') plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') ++i;
    while (i + 1 < text.size() && (is_digit(text[i + 1]) || text[i + 1] == ';')) ++i;
    ++i;
  }
  return plain;
}

/// What launchers and CI put before lines: times, "2026-11-21T08:34:33.123Z " and
/// "[2026-11-21 08:34:33]"; tags, "[1,0]<stdout>:" of Open MPI, also after a date, and "[0] " of
/// MPICH; ranks, "0:" and " 12: " of srun and jsrun.
const std::regex& prefix_pattern() {
  static const std::regex kPattern(
      R"(\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.Z+:,]*\]?|[^\[\]]*\[[0-9,]+\]<std(out|err)>:?)"
      R"(|\[[0-9,]+\]| *\d{1,7}:(?= |#|$))",
      std::regex::optimize);
  return kPattern;
}

View without_known_prefixes(View text) {
  constexpr int kMostPrefixes = 4;
  constexpr std::size_t kLongest = 256;  // the library's search recurses at every character
  for (int i = 0; i < kMostPrefixes; ++i) {
    const View start = text.substr(0, kLongest);
    std::cmatch found;
    if (!std::regex_search(start.data(), start.data() + start.size(), found, prefix_pattern(),
                           std::regex_constants::match_continuous)) {
      break;
    }
    text.remove_prefix(static_cast<std::size_t>(found.length()));
  }
  return text;
}

/// How comments of the tools begin.
constexpr std::array<View, 12> kComments{"nThread",        "Using devices",     "Rank ",
                                         "size ",          "Avg bus bandwidth", "Size ",
                                         "Out of bounds ", "Collective test",   "nccl-tests",
                                         "OSU ",           "rccl-tests",        "Benchmarking "};

bool is_comment_at(View text, std::size_t at) {
  if (text[at] != '#' || (at > 0 && text[at - 1] == '#')) return false;
  const View rest = trim(text.substr(at + 1));
  return std::ranges::any_of(kComments, [&](View start) { return rest.starts_with(start); });
}

/// A row of nccl-tests: a size, a count and a type.
bool is_row_at(View text, std::size_t at) {
  constexpr View kEnds = " \t:]>)|";
  if (!is_digit(text[at]) || (at > 0 && kEnds.find(text[at - 1]) == View::npos)) return false;
  text.remove_prefix(at);
  for (int number = 0; number < 2; ++number) {
    const std::size_t end = text.find_first_not_of("0123456789");
    if (end == 0 || end == View::npos || !is_blank(text[end])) return false;
    text.remove_prefix(std::min(text.find_first_not_of(" \t", end), text.size()));
  }
  const std::size_t end = text.find_first_of(" \t");
  return end != View::npos && is_type_name(text.substr(0, end));
}

/// What stands before a line of a tool; nothing where it is none.
std::optional<View> before_known_text(View text, bool rows_only = false) {
  constexpr std::size_t kLongest = 300;
  for (std::size_t i = 0; i < std::min(text.size(), kLongest); ++i) {
    if (is_row_at(text, i) || (!rows_only && is_comment_at(text, i))) {
      return trim(text.substr(0, i));
    }
  }
  return std::nullopt;
}

/// Numbers and blanks alone may be columns of a table, NCCL's own lines tear others, and what a
/// user made a comment stays one.
bool can_be_prefix(View text) {
  return text.find_first_not_of("0123456789 \t") != View::npos && !text.ends_with('#') &&
         nccl_mark(fmt::format(" {} ", text)) == View::npos;
}

/// A prefix with '0' for each number and ' ' for blanks: times, processes and hosts count.
std::string shape_of(View prefix) {
  std::string shape;
  for (char c : prefix) {
    if (is_digit(c)) c = '0';
    if (is_blank(c)) c = ' ';
    const bool repeats = !shape.empty() && shape.back() == c && (c == '0' || c == ' ');
    if (!repeats) shape += c;
  }
  return shape;
}

bool fits(char shape, View text) {
  if (text.empty()) return false;
  const char c = text.front();
  return shape == '0' ? is_digit(c) : shape == ' ' ? is_blank(c) : c == shape;
}

/// Where a line that begins with the shape goes on, or npos.
std::size_t end_of(View shape, View text) {
  std::size_t at = 0;
  for (const char c : shape) {
    if (!fits(c, text.substr(at))) return View::npos;
    do {
      ++at;
    } while ((c == '0' || c == ' ') && fits(c, text.substr(at)));
  }
  return at;
}

/// Who wrote a line, by its prefix: the words that are names and no times.
std::string source_of(View prefix) {
  Words words = split_words(prefix);
  std::erase_if(words, [](const std::string& word) {
    const bool has_letter =
        std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
    return !has_letter || is_digit(word.front());
  });
  return join(words, " ");
}

/// Where nodes run a test each at the same time, as pdsh does, their lines are mixed: puts those of
/// one node together, between lines that have no prefix.
void sort_by_source(std::vector<LogLine>& lines, const Words& sources) {
  std::map<std::string, std::size_t> places;
  std::set<std::string> with_rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (sources[i].empty()) continue;
    places.emplace(sources[i], places.size());
    const auto before = before_known_text(lines[i].text, true);
    if (before && before->empty()) with_rows.insert(sources[i]);
  }
  if (with_rows.size() < 2) return;
  const auto place = [&](const LogLine& line) { return places.at(sources[line.number - 1]); };
  for (std::size_t start = 0; start < lines.size();) {
    std::size_t end = start + 1;
    while (end < lines.size() && sources[start].empty() == sources[end].empty()) ++end;
    if (!sources[start].empty()) {
      std::stable_sort(lines.begin() + static_cast<long>(start),
                       lines.begin() + static_cast<long>(end),
                       [&](const LogLine& a, const LogLine& b) { return place(a) < place(b); });
    }
    start = end;
  }
}

/// Takes off what stands before two or more lines of a tool, as much as fits.
void remove_learned_prefixes(std::vector<LogLine>& lines) {
  std::map<std::string, int> counts;
  for (const LogLine& line : lines) {
    const auto before = before_known_text(line.text);
    if (before && can_be_prefix(*before)) ++counts[shape_of(*before)];
  }
  std::erase_if(counts, [](const auto& shape) { return shape.second < 2; });
  if (counts.empty()) return;
  Words sources;
  for (LogLine& line : lines) {
    std::size_t end = 0;
    for (const auto& [shape, count] : counts) {
      const std::size_t found = end_of(shape, line.text);
      if (found != View::npos) end = std::max(end, found);
    }
    sources.push_back(source_of(line.text.substr(0, end)));
    line.text = trim(View{line.text}.substr(end));
  }
  sort_by_source(lines, sources);
}

}  // namespace

std::vector<LogLine> log_lines(View text) {
  const std::optional<std::string> converted = as_utf8(text);
  if (converted) text = *converted;
  std::vector<LogLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != View::npos;
    const std::string plain = without_colours(text.substr(0, end));
    lines.push_back({.number = lines.size() + 1,
                     .text = std::string(trim(without_known_prefixes(plain))),
                     .whole = whole});
    text.remove_prefix(whole ? end + 1 : text.size());
  }
  remove_learned_prefixes(lines);
  return lines;
}

std::string hidden_row(const std::vector<LogLine>& lines) {
  for (const LogLine& line : lines) {
    const auto before = before_known_text(line.text, true);
    if (!before || !can_be_prefix(*before)) continue;
    return fmt::format("line {} looks like a row behind a prefix '{}'", line.number,
                       one_line(*before));
  }
  return {};
}

}  // namespace busbar::study
