// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "format/table.hpp"

namespace busbar {

using Json = nlohmann::ordered_json;

/// The text of a document: two blanks of indentation and a line end; -1: all on one line, without
/// one. A text that is missing is null, as a number is. Bytes that are not UTF-8 (a host's odd
/// name) are replaced, never a reason to fail.
[[nodiscard]] std::string json_text(const Json& json, int indentation = 2);

/// Null for a cell without a value, and for a gap in a list.
[[nodiscard]] Json to_json(const Cell& cell);

template <class Value>
[[nodiscard]] Json json_or_null(const Value& value) {
  return to_json(to_cell(value));
}

/// A rate in GB/s to 1 kB/s, so that what a solver is off by does not show.
[[nodiscard]] double rounded(double GBps);

template <class Columns, class Row>
[[nodiscard]] Json json_object(const Columns& columns, const Row& row) {
  Json object = Json::object();
  for (const auto& column : columns) {
    if (!column.name.empty()) object[std::string(column.name)] = to_json(column.get(row));
  }
  return object;
}

/// What `make` makes of each item, a document or what becomes one.
template <class Items, class Make>
[[nodiscard]] Json json_array(const Items& items, Make make) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(make(item));
  return array;
}

template <class Columns, class Rows>
[[nodiscard]] Json json_rows(const Columns& columns, const Rows& rows) {
  return json_array(rows, [&](const auto& row) { return json_object(columns, row); });
}

}  // namespace busbar
