// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/options.hpp"
#include "harness/row.hpp"
#include "model/bootstrap.hpp"
#include "model/row_key.hpp"
#include "report/progress_line.hpp"
#include "report/writer.hpp"

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
  /// If an earlier run has all these rows already: shows them, and true on every rank. `rows` are
  /// rank 0's. Collective.
  [[nodiscard]] bool resume_rows(const std::vector<Row>& rows);
  /// A row that an earlier run has is not written again.
  void write(const Record& record, std::span<const double> samples_us);
  /// `memory_use` is the text of -M, else empty.
  void end(const std::string& memory_use);

  /// Wrong rows and measured rows so far; only on rank 0.
  [[nodiscard]] const RunSummary& summary() const { return summary_; }
  [[nodiscard]] ProgressLine* progress_line();

 private:
  void open(const Options& options);
  void show(const Record& record, std::span<const double> samples_us);
  /// Shows the row that an earlier run has; false where it has none.
  bool show_earlier(const Record& record);
  void count(const Record& record);

  Bootstrap& bootstrap_;
  bool resume_;
  std::vector<std::unique_ptr<Writer>> displays_;  ///< of all rows: the table, the JSON
  std::vector<std::unique_ptr<Writer>> journals_;  ///< of new rows: the CSVs
  std::multimap<std::pair<RowKey, std::uint64_t>, Record> earlier_;  ///< by row and cycle
  std::string earlier_configuration_;
  RunSummary summary_;
  double busbw_total_ = 0;
  ProgressLine progress_line_;
};

}  // namespace busbar
