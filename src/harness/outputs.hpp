// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/output_file.hpp"
#include "format/progress_line.hpp"
#include "format/timeline_file.hpp"
#include "format/writer.hpp"
#include "harness/options.hpp"
#include "harness/row.hpp"
#include "harness/visits.hpp"
#include "model/bootstrap.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// Where rows that are measured together stand in the table, and which of their visits it is.
struct RowVisit {
  std::size_t position = 0;
  std::uint64_t visit = 0;
};

/// All outputs of a run, on rank 0; on other ranks everything does nothing. Files are opened, and
/// an earlier file is read for --resume, before anything is measured.
class Outputs {
 public:
  /// Collective: where rank 0 cannot open a file, every rank throws.
  Outputs(Bootstrap& bootstrap, const Options& options);

  /// Refuses to resume a file of another configuration. Collective.
  void check_resumable(const std::string& configuration);
  void begin(const RunContext& context);
  /// True on every rank if these rows need not be measured (at this visit): an earlier run has
  /// them, which are shown then, or their visits are enough. `rows` are rank 0's. Collective.
  [[nodiscard]] bool resume_rows(const std::vector<Row>& rows, const RowVisit& where = {});
  /// True on rank 0.
  [[nodiscard]] bool writes() const { return bootstrap_.rank() == 0; }
  /// True on rank 0 if this visit of a position is still to be made.
  [[nodiscard]] bool wants(const RowVisit& where) const {
    return !visits_ || visits_->wants(where.position, where.visit);
  }
  /// True on every rank if an earlier run has all of these rows, which are rank 0's. Collective.
  [[nodiscard]] bool has_all(const std::vector<Row>& rows);
  /// Writes rows that were measured together; those of a run in visits when they are final and
  /// those above them in the table are written. Skipped rows are final.
  void write_rows(std::vector<Row> rows, const RowVisit& where);
  /// A row that an earlier run has is not written again. Who is last is named here, from all the
  /// row's samples.
  void write(Row row);
  /// Adds lines of facts to the file of --facts, or as comments to standard output.
  void write_facts(std::string_view lines);
  /// Writes an interval of a soak, where there is a --timeline.
  void write_interval(const TimelineInterval& interval);
  /// `memory_use` is the text of -M, else empty.
  void end(const std::string& memory_use);

  /// Wrong rows and measured rows so far; only on rank 0.
  [[nodiscard]] const RunSummary& summary() const { return summary_; }
  [[nodiscard]] ProgressLine* progress_line();
  /// "visit 2 of 6, 41.2 GB/s so far"; empty for a run in one visit.
  [[nodiscard]] std::string visit_text(const RowVisit& where) const;

 private:
  void open(const Options& options);
  /// Those beside the CSV.
  void open_journals(const Options& options);
  [[nodiscard]] std::vector<Row> take_earlier(std::span<const Row> rows);
  void write_final_rows();
  void show(const Row& row);
  void count(const Record& record);

  Bootstrap& bootstrap_;
  bool resume_;
  RunContext context_{};
  std::vector<std::unique_ptr<Writer>> displays_;  ///< of all rows: the table, the JSON
  std::vector<std::unique_ptr<Writer>> journals_;  ///< of new rows: the CSVs
  std::optional<OutputFile> facts_{};
  TimelineWriter* timeline_ = nullptr;                               ///< one of the journals
  std::multimap<std::pair<RowKey, std::uint64_t>, Record> earlier_;  ///< by row and cycle
  std::string earlier_configuration_;
  RunSummary summary_;
  double busbw_total_ = 0;
  ProgressLine progress_line_;
  std::uint64_t planned_visits_;
  std::optional<Visits> visits_{};  ///< where there are several
  std::optional<VariantRatios> ratios_{};
};

}  // namespace busbar
