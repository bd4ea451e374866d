// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "format/csv_reader.hpp"
#include "format/output_file.hpp"
#include "format/writer.hpp"
#include "model/record.hpp"

namespace busbar {

/// The CSV of records: "# key: value" lines, one header line, one line per record.
class CsvWriter final : public Writer {
 public:
  /// A new file, or with `resume` one that goes on after its last whole line.
  CsvWriter(const std::string& path, bool resume);

  /// Records that the file had already, oldest first.
  [[nodiscard]] const std::vector<Record>& earlier() const { return earlier_; }
  /// The value of a "# key: value" line of the file that is resumed; empty where there is none.
  [[nodiscard]] std::string earlier_fact(const Fact& wanted) const {
    return value_of(earlier_facts_, wanted);
  }

  void begin(const RunContext& context) override;
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  OutputFile file_;
  Facts earlier_facts_;
  std::vector<Record> earlier_;
};

/// The CSV of raw samples, with the keys of their record: a line per sample (--samples), or per
/// sample and rank (--per-rank).
class SamplesWriter final : public Writer {
 public:
  enum class Times { OfRow, OfRanks };

  SamplesWriter(const std::string& path, bool resume, Times times = Times::OfRow);

  void begin(const RunContext& context) override;
  void write(const Row& row) override;

 private:
  OutputFile file_;
  Times times_;
  RunContext context_{};
};

/// The head of a CSV: a line of each fact, then of each note.
[[nodiscard]] std::string csv_head(const HeaderFacts& facts,
                                   const std::vector<std::string>& notes = {});
/// The columns' names on a line, from the one field list.
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_row(const Record& record);

/// docs/csv.md: the CSV's description, from the one field list.
[[nodiscard]] std::string schema_markdown();

}  // namespace busbar
