// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/output_file.hpp"
#include "format/progress_line.hpp"
#include "format/timeline_file.hpp"
#include "format/writer.hpp"
#include "harness/options.hpp"
#include "model/bootstrap.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// All outputs of a run, on rank 0; on other ranks everything does nothing. Files are opened, and
/// an earlier file is read for --resume, before anything is measured.
class Outputs {
 public:
  /// Collective: where rank 0 cannot open a file, every rank throws.
  Outputs(Bootstrap& bootstrap, const Options& options);

  /// Refuses to resume a file of another configuration. Collective.
  void check_resumable(const std::string& configuration);
  void begin(const RunContext& context);
  /// Whether an earlier run has rows that were not taken yet. On rank 0.
  [[nodiscard]] bool has_earlier() const { return !earlier_.empty(); }
  /// Rows that an earlier run has of all of these records, each taken once, as the same size may
  /// stand in a sweep more than once; none where it lacks one. On rank 0.
  [[nodiscard]] std::vector<Row> take_earlier(std::span<const Record> records);
  /// Writes a row to all outputs. One that an earlier run has is shown as it is there.
  void write(const Row& row);
  /// Writes a row that is in the CSV already to the other outputs. On rank 0.
  void show(const Row& row);
  /// Adds lines of facts to the file of --facts, or as comments to standard output.
  void write_facts(std::string_view lines);
  /// Writes an interval of a soak, where there is a --timeline.
  void write_interval(const TimelineInterval& interval);
  /// `memory_use` is the text of -M, else empty.
  void end(const std::string& memory_use);

  /// Wrong rows and measured rows so far; only on rank 0.
  [[nodiscard]] const RunSummary& summary() const { return summary_; }
  [[nodiscard]] ProgressLine* progress_line();

 private:
  void open(const Options& options);
  /// Those beside the CSV.
  void open_journals(const Options& options);
  void count(const Record& record);

  Bootstrap& bootstrap_;
  bool resume_;
  std::vector<std::unique_ptr<Writer>> displays_;  ///< of all rows: the table, the JSON
  std::vector<std::unique_ptr<Writer>> journals_;  ///< of new rows: the CSVs
  std::optional<OutputFile> facts_{};
  TimelineWriter* timeline_ = nullptr;                               ///< one of the journals
  std::multimap<std::pair<RowKey, std::uint64_t>, Record> earlier_;  ///< by row and cycle
  std::string earlier_configuration_;
  RunSummary summary_;
  double busbw_total_ = 0;
  ProgressLine progress_line_;
};

}  // namespace busbar
