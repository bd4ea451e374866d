// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/output_file.hpp"
#include "harness/evidence.hpp"
#include "harness/job.hpp"
#include "harness/outputs.hpp"
#include "harness/planned_row.hpp"

namespace busbar {

/// How the values of --vary compare, row by row, each with the first: the medians of a visit are a
/// pair, as the machine was the same for both.
class VariantRatios {
 public:
  explicit VariantRatios(Vary vary) : vary_(std::move(vary)) {}

  /// Adds the median of each visit of a row, in their order. A sentence for each value but the
  /// first once the row has been measured with all of them; empty before.
  [[nodiscard]] std::vector<std::string> add(const Record& record, std::vector<double> medians);

 private:
  /// `name` is the other value.
  [[nodiscard]] std::string sentence(const std::vector<double>& first,
                                     const std::vector<double>& other,
                                     const std::string& name) const;

  Vary vary_;
  std::map<RowKey, std::map<std::string, std::vector<double>>> rows_{};  ///< by variant
};

/// What has been measured of a launch, on rank 0, by positions in the table: rows that are measured
/// together, one of each group of a round, have one. Rows go to the outputs in the order of the
/// table, when their last visit is made. Evidence of rows in visits is on disk before more is
/// measured, in a file beside the CSV that is removed when the run has ended.
class Journal {
 public:
  /// Opens the file. Throws a usage error on every rank where it is there already and this run
  /// resumes none. Collective.
  Journal(Bootstrap& world, const Options& options);

  /// Takes what an earlier run of this configuration has, in the file and in the CSV, for the
  /// launch that begins. What is referred to outlives this. Throws a usage error on every rank.
  /// Collective.
  void begin(const Job& job, std::span<const PlannedRow> rows, Outputs& outputs,
             const std::string& configuration);
  /// The round of the first row in this order that is still to be measured; else that of the first
  /// row. Collective.
  [[nodiscard]] std::size_t first_round(std::span<const std::size_t> order) const;
  /// True on every rank where a row needs not be measured at its pass. Writes what is final until
  /// then. Collective.
  [[nodiscard]] bool has(const PlannedRow& row);
  /// Adds what each group of the row's round found. Does nothing on other ranks than 0.
  void add(const PlannedRow& row, std::vector<Evidence> groups);
  /// "visit 2 of 6, 41.2 GB/s so far": of a row's first group; empty for a run in one visit.
  [[nodiscard]] std::string visit_text(const PlannedRow& row) const;
  /// Removes the file.
  void end();

 private:
  struct Entry {
    std::vector<std::vector<Evidence>> groups{};  ///< visits of each
    std::vector<Row> earlier{};                   ///< rows of an earlier run's CSV, in their place
    bool final = false;
  };

  /// Of all passes in turn, but for visits of one row.
  [[nodiscard]] bool is_there(const PlannedRow& row) const;
  [[nodiscard]] std::size_t number_of(const PlannedRow& row) const;
  void read_file(const std::string& configuration);
  void take_earlier();
  void keep(std::size_t number, std::vector<Evidence> groups);
  void write_final_rows();

  Bootstrap& world_;
  const Options& options_;
  const Job* job_ = nullptr;
  Outputs* outputs_ = nullptr;
  std::span<const PlannedRow> rows_{};
  std::optional<OutputFile> file_{};
  std::map<std::size_t, Entry> entries_{};
  std::size_t next_ = 0;  ///< number of the next row to be written
  std::optional<VariantRatios> ratios_{};
};

}  // namespace busbar
