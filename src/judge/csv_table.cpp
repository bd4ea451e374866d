// SPDX-License-Identifier: BSD-3-Clause
#include "judge/csv_table.hpp"

#include <fstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/table.hpp"
#include "study/dataset.hpp"

namespace busbar::judge {
namespace {

std::vector<std::string> cells_of(const std::string& line, const std::string& place) {
  std::vector<std::string> cells(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && in_quotes && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (c == ',' && !in_quotes) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (in_quotes) throw usage_error(fmt::format("{}: a quote is not closed", place));
  return cells;
}

}  // namespace

CsvTable read_csv_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(fmt::format("cannot read {}", path));
  CsvTable table;
  std::vector<std::string> head;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string place = fmt::format("{}:{}", path, number);
    if (file.eof()) table.cut = place;
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with('#')) {
      head.push_back(line);
    } else if (!table.cut.empty() || line.empty()) {
      continue;
    } else if (table.columns_place.empty()) {
      table.columns_place = place;
      table.columns = line;
    } else {
      table.rows.push_back({.place = place, .cells = cells_of(line, place)});
    }
  }
  table.facts = facts_of(head);
  return table;
}

std::string csv_line(const std::vector<std::string>& cells) {
  return join_each(cells, ",", [](const std::string& cell) { return csv_cell(one_line(cell)); }) +
         '\n';
}

}  // namespace busbar::judge
