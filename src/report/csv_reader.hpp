// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.hpp"

namespace busbar {

/// The rows of a CSV that a *_perf program wrote, one after the other, so that a file of any length
/// needs no more memory than a short one. Columns that the file lacks stay empty, unknown ones are
/// ignored, an unfinished last line is left out.
class CsvRows {
 public:
  /// Opens a file and reads its head. Of its rows only `columns` and the collective and size are
  /// read, which is faster; the others stay empty, whatever is in them; none named is all. Throws a
  /// usage error where it is not a CSV of ours.
  explicit CsvRows(const std::string& path, std::span<const std::string_view> columns = {});
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;
  ~CsvRows();

  /// The "#" lines above the column names.
  [[nodiscard]] const std::vector<std::string>& head() const;
  /// The line that names the columns.
  [[nodiscard]] const std::string& columns() const;
  /// Why the file is not whole, or empty: "cut off: its last line has no end". Our programs end
  /// theirs with "# finished:"; imported files have no such line.
  [[nodiscard]] const std::string& cut() const;
  /// Puts the next row into an empty record; false where there is none. Throws a usage error with
  /// file, line and column where a cell is not what it should be.
  [[nodiscard]] bool next(Record& record);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

using Facts = std::map<std::string, std::string>;

/// The "# key: value" lines of a CSV's head.
[[nodiscard]] Facts facts_of(std::span<const std::string> head);

/// A CSV of ours, read back.
struct CsvFile {
  std::vector<std::string> head;  ///< the "#" lines above the column names
  std::string columns;            ///< the line that names them
  std::vector<Record> records;
  std::string cut;  ///< as CsvRows::cut
};

/// Reads all columns of all rows. Throws what CsvRows throws.
[[nodiscard]] CsvFile read_csv(const std::string& path);

}  // namespace busbar
