// SPDX-License-Identifier: BSD-3-Clause
#include "report/text_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace busbar {
namespace {

std::string shown(const std::string& cell) { return cell.empty() ? "-" : cell; }

/// "12.5", "<=50", "0.98..1.02", "61%"; and sizes as format_bytes writes them: "256 KiB".
bool is_number(const std::string& cell) {
  constexpr std::array<std::string_view, 5> kSizeUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  const std::size_t end = cell.find(' ');
  if (end != std::string::npos &&
      std::find(kSizeUnits.begin(), kSizeUnits.end(), cell.substr(end + 1)) == kSizeUnits.end()) {
    return false;
  }
  const std::string number = cell.substr(0, end);
  return !number.empty() && number.find_first_not_of("0123456789.+-e%x*<=") == std::string::npos;
}

/// Columns on a terminal: a character of UTF-8 is one, whatever its bytes.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// Every cell that has a value is a number.
std::vector<bool> numeric_columns(const TextTable& table) {
  std::vector<bool> numeric(table.columns.size(), true);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty() && !is_number(row[i])) numeric[i] = false;
    }
  }
  return numeric;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// "|" parts cells of Markdown.
std::string escaped(const std::string& cell) {
  std::string text;
  for (const char c : cell) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return text;
}

}  // namespace

std::string plain_table(const TextTable& table) {
  const std::vector<bool> numeric = numeric_columns(table);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(width_of(table.columns[i]));
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], width_of(shown(row[i])));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += i == 0 ? "" : "  ";
      text += numeric[i] ? fmt::format("{:>{}}", shown(cells[i]), widths[i])
                         : fmt::format("{:<{}}", shown(cells[i]), widths[i]);
    }
    return without_trailing_blanks(std::move(text)) + "\n";
  };
  std::string text = line(table.columns);
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string markdown_table(const TextTable& table) {
  const std::vector<bool> numeric = numeric_columns(table);
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += fmt::format(" {} |", escaped(shown(cell)));
    return text + "\n";
  };
  std::string text = line(table.columns) + "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += numeric[i] ? "---:|" : "---|";
  text += "\n";
  for (const auto& row : table.rows) text += line(row);
  return text;
}

}  // namespace busbar
