// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "report/table.hpp"

namespace busbar::judge {

/// A line of cells.
struct CsvRow {
  std::string place{};  ///< "launches.csv:7", for messages
  std::vector<std::string> cells{};
};

/// A small CSV as report/csv_reader reads it, such as a journal or a baseline.
struct CsvTable {
  std::map<std::string, std::string> facts{};  ///< "# key: value" lines
  std::string columns_place{};                 ///< empty: there is no line of columns
  std::string columns{};
  std::vector<CsvRow> rows{};
  std::string cut{};  ///< where a last line has no end; it is left out
};

/// Reads one. Throws Error (Usage) where the file cannot be read or a quote is not closed.
[[nodiscard]] CsvTable read_csv_table(const std::string& path);

}  // namespace busbar::judge
