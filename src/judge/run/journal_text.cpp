// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/journal_text.hpp"

#include <fstream>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::judge {
namespace {

/// Takes a quoted cell from behind its first quote; `place_in_line` ends behind its last.
std::string quoted_cell(const std::string& place, const std::string& line,
                        std::size_t& place_in_line) {
  std::string cell;
  while (place_in_line < line.size()) {
    const char character = line[place_in_line++];
    if (character != '"') {
      cell += character;
    } else if (place_in_line < line.size() && line[place_in_line] == '"') {
      cell += '"';
      ++place_in_line;
    } else {
      return cell;
    }
  }
  throw usage_error(fmt::format("{}: a quote is not closed", place));
}

}  // namespace

std::vector<JournalTextLine> journal_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(fmt::format("cannot read {}", path));
  std::vector<JournalTextLine> lines;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    if (file.eof()) break;  // no line end: it was not finished
    if (text.ends_with('\r')) text.pop_back();
    if (!text.empty()) lines.push_back({.number = number, .text = text});
  }
  return lines;
}

std::vector<std::string> journal_cells(const std::string& place, const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  while (at <= line.size()) {
    if (at < line.size() && line[at] == '"') {
      cells.push_back(quoted_cell(place, line, ++at));
      if (at < line.size() && line[at] != ',') {
        throw usage_error(fmt::format("{}: there is more behind a quoted cell", place));
      }
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end;
    }
    ++at;  // the comma; behind the last cell this ends it
  }
  return cells;
}

}  // namespace busbar::judge
