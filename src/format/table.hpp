// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "model/record.hpp"

namespace busbar {

/// A table as it is shown, the same for text, Markdown and HTML. An empty cell is shown as a dash:
/// a gap, never 0.
struct Table {
  std::string caption{};  ///< of documents
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};
  /// Which columns stand at the right; none: those of which every value is a number, such as
  /// "12.5", "<=50", "0.98..1.02", "61%", "256 KiB".
  std::vector<std::size_t> numbers{};
  /// Of documents: the file that the first cell of each row leads to, relative to the page; none or
  /// empty: to none.
  std::vector<std::string> links{};
};

/// Adds a column that stands at the right.
void add_number_column(Table& table, std::string title);

/// Columns under their titles, for a terminal.
[[nodiscard]] std::string plain_table(const Table& table);
/// The same as GitHub's Markdown, without the caption.
[[nodiscard]] std::string markdown_table(const Table& table);
/// Per column whether it stands at the right.
[[nodiscard]] std::vector<bool> number_columns(const Table& table);

/// The value of a cell; monostate: it has none. A list may have gaps, which are NaN.
using Cell =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

/// A value as a cell. An optional without value and a number that is not finite have none.
template <class Value>
[[nodiscard]] Cell to_cell(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return std::isfinite(value) ? Cell(value) : Cell();
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (NamedEnum<Value>) {
    return std::string(name(value));
  } else if constexpr (requires { value.has_value(); }) {
    return value ? to_cell(*value) : Cell();
  } else if constexpr (std::is_constructible_v<std::string, Value>) {
    return std::string(value);
  } else {
    return value;
  }
}

using NumberText = std::string (*)(double);

/// The text of a cell; true is 1, a gap in a list "-".
[[nodiscard]] std::string cell_text(const Cell& cell, NumberText number = number_text);

/// A column of text, Markdown and HTML tables and of CSVs, or a member of a JSON object: the one
/// list of columns of a kind of rows is what all its outputs are made from.
template <class Row>
struct Column {
  /// `get` is a lambda without captures that takes a row.
  template <class Get>
  constexpr Column(std::string_view its_name, std::string_view its_title, Get /*get*/,
                   NumberText its_number = number_text)
      : name(its_name),
        title(its_title),
        get([](const Row& row) -> Cell { return to_cell(Get{}(row)); }),
        number(its_number) {}

  std::string_view name;   ///< in CSV and JSON; empty: in neither
  std::string_view title;  ///< in tables, with the unit; empty: in none
  Cell (*get)(const Row& row);
  NumberText number;  ///< in tables
};

/// Columns by name, in the order of the list; "model share=exposed_share" has the second one under
/// another name. Throws Error (Runtime) where one is missing.
template <class Columns>
[[nodiscard]] auto select_columns(const Columns& columns, std::string_view names) {
  std::vector<typename Columns::value_type> selected;
  while (!names.empty()) {
    const std::string_view item = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(item.size() + 1, names.size()));
    const std::string_view wanted = item.substr(item.find('=') + 1);
    const auto found = std::ranges::find(columns, wanted, &Columns::value_type::name);
    if (found == columns.end()) throw runtime_failure("no column " + std::string(wanted));
    selected.push_back(*found);
    selected.back().name = item.substr(0, item.find('='));
  }
  return selected;
}

/// The columns that have a title, with a row for each.
template <class Columns, class Rows>
[[nodiscard]] Table make_table(const Columns& columns, const Rows& rows) {
  using Column = typename Columns::value_type;
  const auto shown = filtered(columns, [](const Column& column) { return !column.title.empty(); });
  const auto cells = [&](const auto& row) {
    return mapped(shown, [&](const Column& one) { return cell_text(one.get(row), one.number); });
  };
  return {.columns = mapped<std::string>(shown, &Column::title), .rows = mapped(rows, cells)};
}

/// A line of cells by RFC 4180, with its end; control characters become blanks.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

/// The columns that have a name: a line of names, and a line for each row.
template <class Columns, class Rows>
[[nodiscard]] std::string csv_text(const Columns& columns, const Rows& rows,
                                   NumberText number = number_text) {
  using Column = typename Columns::value_type;
  const auto named = filtered(columns, [](const Column& column) { return !column.name.empty(); });
  std::string text = csv_line(mapped<std::string>(named, &Column::name));
  for (const auto& row : rows) {
    text += csv_line(
        mapped(named, [&](const Column& column) { return cell_text(column.get(row), number); }));
  }
  return text;
}

}  // namespace busbar
