// SPDX-License-Identifier: BSD-3-Clause
#include "format/table.hpp"

#include "format/markup_text.hpp"

namespace busbar {
namespace {

constexpr std::string_view kGap = "-";

bool is_number(const std::string& cell) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  const std::size_t end = cell.find(' ');
  if (end != std::string::npos && std::ranges::find(kUnits, cell.substr(end + 1)) == kUnits.end()) {
    return false;
  }
  const std::string number = cell.substr(0, end);
  return !number.empty() && number.find_first_not_of("0123456789.+-e%x*<=") == std::string::npos;
}

}  // namespace

void add_number_column(Table& table, std::string title) {
  table.numbers.push_back(table.columns.size());
  table.columns.push_back(std::move(title));
}

std::vector<bool> number_columns(const Table& table) {
  std::vector<bool> numeric(table.columns.size(), table.numbers.empty());
  for (const std::size_t i : table.numbers) numeric[i] = true;
  if (!table.numbers.empty()) return numeric;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty() && !is_number(row[i])) numeric[i] = false;
    }
  }
  return numeric;
}

std::string plain_table(const Table& table) {
  const std::vector<bool> numeric = number_columns(table);
  const auto shown = [](const std::string& cell) { return cell.empty() ? kGap : cell; };
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(character_count(table.columns[i]));
    for (const auto& row : table.rows) {
      widths[i] = std::max(widths[i], character_count(shown(row[i])));
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += i == 0 ? "" : "  ";
      text += numeric[i] ? fmt::format("{:>{}}", shown(cells[i]), widths[i])
                         : fmt::format("{:<{}}", shown(cells[i]), widths[i]);
    }
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = line(table.columns);
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string markdown_table(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
      text += fmt::format(" {} |", cell.empty() ? "\xE2\x80\x93" : markdown_text(cell));
    }
    return text + "\n";
  };
  std::string text = line(table.columns) + "|";
  for (const bool number : number_columns(table)) text += number ? " ---: |" : " --- |";
  text += "\n";
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string cell_text(const Cell& cell, NumberText number) {
  struct Text {
    NumberText number;

    std::string operator()(std::monostate /*none*/) const { return {}; }
    std::string operator()(bool value) const { return value ? "1" : "0"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return number(value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<double>& values) const {
      return join_each(values, " ", [&](double value) {
        return std::isfinite(value) ? number(value) : std::string(kGap);
      });
    }
  };
  return std::visit(Text{number}, cell);
}

std::string csv_line(const std::vector<std::string>& cells) {
  const auto quoted_cell = [](const std::string& cell) {
    const std::string text = one_line(cell);
    return text.find_first_of(",\"") == std::string::npos ? text : '"' + doubled(text, '"') + '"';
  };
  return join_each(cells, ",", quoted_cell) + '\n';
}

}  // namespace busbar
