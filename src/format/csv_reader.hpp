// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/fact.hpp"
#include "model/record.hpp"

namespace busbar {

/// A CSV by RFC 4180 with "#" lines, such as ours, read line after line: a file of any length, or a
/// pipe, needs no more memory than a short one. Empty lines and an unfinished last line are left
/// out; no cell has a line end.
class CsvReader {
 public:
  /// Reads the head and the names. Throws a usage error where the file cannot be read.
  explicit CsvReader(const std::string& path);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader();

  /// The "#" lines above the column names.
  [[nodiscard]] const std::vector<std::string>& head() const { return head_; }
  /// The line that names the columns; empty: there is none.
  [[nodiscard]] const std::string& columns() const { return columns_; }
  /// Goes to the next row; false where there is none. Throws a usage error with file and line where
  /// a quote is not closed.
  [[nodiscard]] bool next();
  /// The row's cells, without blanks around them.
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }
  /// "x.csv:7": of the row, or at first of the names.
  [[nodiscard]] const std::string& place() const { return place_; }
  /// After the last row: where a last line has no end, or empty.
  [[nodiscard]] const std::string& cut_place() const { return cut_place_; }
  /// After the last row: whether a line "# finished:" stands below the names.
  [[nodiscard]] bool is_finished() const { return finished_; }

 private:
  struct Lines;

  void ahead();
  bool next_line();

  std::string path_;
  std::unique_ptr<Lines> lines_;
  std::optional<std::string> next_{};
  std::size_t number_ = 0;
  std::string line_{};
  std::vector<std::string> head_{};
  std::string columns_{};
  std::vector<std::string> cells_{};
  std::string place_{};
  std::string cut_place_{};
  bool finished_ = false;
};

/// @name Lines of another file among those of a CSV on standard output: "# fact: ..."
/// @{
[[nodiscard]] std::string as_comments(std::string_view prefix, std::string_view lines);
/// The lines that `as_comments` made, without the prefix.
[[nodiscard]] std::vector<std::string> from_comments(std::string_view prefix,
                                                     std::string_view text);
/// @}

/// The cells of a line, without blanks around them; none where a quote is not closed.
[[nodiscard]] std::vector<std::string> csv_cells(std::string line);

/// The records of a CSV that a *_perf program wrote. Columns that the file lacks stay empty,
/// unknown ones are ignored.
class CsvRows {
 public:
  /// Throws a usage error where it is not a CSV of ours.
  explicit CsvRows(const std::string& path);

  [[nodiscard]] const std::vector<std::string>& head() const { return reader_.head(); }
  [[nodiscard]] const std::string& columns() const { return reader_.columns(); }
  /// Puts the next row into an empty record; false where there is none. Throws a usage error with
  /// file, line and column where a cell is not what it should be.
  [[nodiscard]] bool next(Record& record);
  /// After the last row: why the file is not whole, or empty: "cut off: its last line has no end".
  /// Our programs end theirs with "# finished:"; imported files have no such line.
  [[nodiscard]] std::string cut() const;

 private:
  CsvReader reader_;
  std::vector<const RecordField*> fields_{};  ///< of the cells; null for unknown columns
};

using Facts = std::map<std::string, std::string>;

/// The "# key: value" lines of a CSV's head.
[[nodiscard]] Facts facts_of(std::span<const std::string> head);
/// Empty where there is no such fact.
[[nodiscard]] std::string value_of(const Facts& facts, const Fact& fact);

struct CsvFile {
  std::vector<std::string> head;  ///< the "#" lines above the column names
  std::string columns;            ///< the line that names them
  std::vector<Record> records;
  std::string cut;  ///< as CsvRows::cut
};

/// Reads all rows. Throws what CsvRows throws.
[[nodiscard]] CsvFile read_csv(const std::string& path);

}  // namespace busbar
