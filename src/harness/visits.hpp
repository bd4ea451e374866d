// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/output_file.hpp"
#include "harness/options.hpp"
#include "harness/row.hpp"
#include "model/row_key.hpp"
#include "model/variant.hpp"

namespace busbar {

/// A row as one text without a line end, and back: the digits of samples are kept.
[[nodiscard]] std::string row_text(const Row& row);
[[nodiscard]] Row parse_row(std::string_view text);

/// The rows of all groups on rank 0 of the job, by their numbers; on others
/// nothing. Numbers arrive with the digits that files have. Collective over the job.
[[nodiscard]] std::vector<Row> gather_rows(const RoundGroup& round_group, const Row& mine);

/// One row of all its visits, each a row of its own: statistics of all samples, an interval of the
/// run, flags of any visit. At least one visit.
[[nodiscard]] Row merge_visits(std::span<const Row> visits, stats::StopReason stop);

/// The visits of all rows of a run, on rank 0 (--visits). Rows that are measured together have one
/// position in the table. With a CSV a visit is on disk before the next is measured, in a file
/// beside it that is removed when the run has ended.
class Visits {
 public:
  /// Opens the file. Throws a usage error where it is there already and this run resumes none.
  explicit Visits(const Options& options);

  /// Reads what an earlier run of this configuration measured. Throws a usage error where the
  /// file is of another one.
  void begin(const std::string& configuration);
  /// True where this visit of a position is still to be made.
  [[nodiscard]] bool wants(std::size_t position, std::uint64_t visit) const;
  /// Adds a visit.
  void add(std::size_t position, std::vector<Row> rows);
  /// Ends a position with these rows, or with its visits where it has some; `written`: they are in
  /// the CSV already.
  void settle(std::size_t position, std::vector<Row> rows, bool written);
  /// The rows of a position.
  struct FinalRows {
    std::vector<Row> rows{};
    std::vector<std::vector<double>> medians{};  ///< of the visits of each row, us
    bool written = false;
  };
  /// Those of the next position in the table, once they are final and all before them were taken.
  [[nodiscard]] std::optional<FinalRows> take_next();
  /// Bus bandwidth, or without one time, of a position's visits so far; empty before the first.
  [[nodiscard]] std::string preliminary(std::size_t position) const;
  /// Removes the file.
  void end();

 private:
  struct Entry {
    std::vector<std::vector<Row>> rows{};  ///< of each group that measures at the same time: visits
    bool final = false;
    bool written = false;
  };

  void keep(std::size_t position, std::vector<Row> rows);
  [[nodiscard]] stats::StopReason decide(std::span<const Row> visits) const;

  std::size_t planned_;
  stats::StopLimits limits_;
  bool exact_;     ///< -n
  bool all_made_;  ///< no row ends before its last visit
  std::optional<OutputFile> file_{};
  std::map<std::size_t, Entry> entries_{};
  std::size_t next_ = 0;
};

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

}  // namespace busbar
