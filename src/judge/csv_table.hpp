// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace busbar::judge {

/// A line of cells.
struct CsvRow {
  std::string place{};  ///< "launches.csv:7", for messages
  std::vector<std::string> cells{};
};

/// A small CSV by RFC 4180, such as a journal or a baseline; no cell has a line end.
struct CsvTable {
  std::map<std::string, std::string> facts{};  ///< "# key: value" lines
  std::string columns_place{};                 ///< empty: there is no line of columns
  std::string columns{};
  std::vector<CsvRow> rows{};
  std::string cut{};  ///< where a last line has no end; it is left out
};

/// Reads one. Throws Error (Usage) where the file cannot be read or a quote is not closed.
[[nodiscard]] CsvTable read_csv_table(const std::string& path);

/// A line of cells, with its line end.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

}  // namespace busbar::judge
