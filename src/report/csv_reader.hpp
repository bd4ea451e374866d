// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.hpp"

namespace busbar {

/// A CSV of ours, read back.
struct CsvFile {
  std::vector<std::string> head;  ///< the "#" lines above the column names
  std::string columns;            ///< the line that names them
  std::vector<Record> records;
};

/// Reads a CSV that a *_perf program wrote. Columns that the file lacks stay empty, unknown ones
/// are ignored, an unfinished last line is left out. Throws a usage error with file, line and
/// column where a cell is not what it should be.
[[nodiscard]] CsvFile read_csv(const std::string& path);
/// Reads only these columns, which is faster where a file has very many rows; the others stay
/// empty, whatever is in them.
[[nodiscard]] CsvFile read_csv(const std::string& path, std::span<const std::string_view> columns);

}  // namespace busbar
