// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "harness/gathered_rows.hpp"
#include "harness/load.hpp"
#include "harness/memory_plan.hpp"
#include "harness/outputs.hpp"
#include "harness/row.hpp"
#include "harness/row_table.hpp"
#include "harness/run.hpp"
#include "harness/sampler.hpp"

namespace busbar {

/// "all-reduce 64 MiB in place", behind the round and the group where there are some
[[nodiscard]] std::string row_name(const Run& run, const Record& record);

/// Plans every size of a sweep for one type and operation.
[[nodiscard]] std::vector<SizePlan> plan_sweep(const Run& run, DataType type, ReduceOp op,
                                               Bytes library_growth = 0);

/// Measures all rows of a round: types, operations, roots, sizes, placements, in this order; rows
/// in visits in an order of its own at each visit, so that a row's number and the time are not
/// confounded. The groups of the round measure a row each at the same time.
class Runner {
 public:
  /// Takes the memory of --load. Collective.
  Runner(const Run& run, const RowTable& table, Outputs& outputs);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() = default;

  /// Runs one untimed operation on devices, so that memory is planned from what the library leaves,
  /// and lets the communicator take memory for the largest rows; what the library took. Collective.
  Bytes prepare();
  /// Goes once over all rows: a cycle, or a visit of each. Collective over the job.
  void run_pass(std::uint64_t pass);

 private:
  void run_first_operation();
  void run_sweep(const SweepKey& key);
  void run_size(RowSetup setup);
  void run_row(const RowSetup& setup, bool in_place);
  [[nodiscard]] Record blank(const RowSetup& setup, bool in_place) const;
  [[nodiscard]] Call call_like(const SweepKey& key) const;
  [[nodiscard]] Bytes offset_of(DataType type) const;
  /// Why a row cannot be measured, on some rank at least, or empty: then the buffers are there.
  /// Collective.
  [[nodiscard]] std::string find_obstacle(const RowSetup& setup, bool in_place);
  /// Buffers on every rank or on none. Collective.
  [[nodiscard]] bool try_allocate(const SizePlan& plan, Bytes offset);
  /// Measures a row and writes it; where that fails it is written as failed before the error goes
  /// on.
  void measure(const RowSetup& setup, Record record);
  /// Writes the rows of all groups. Collective.
  void write(const RowSetup& setup, Row mine);
  /// Writes and shows the intervals of a soak; empty without one.
  [[nodiscard]] IntervalReport interval_report(const Footprint& footprint);
  [[nodiscard]] ProgressReport progress_report(const RowSetup& setup, const Record& record);

  Run run_;
  RoundGroup round_group_;
  const RowTable& table_;
  const Options& options_;
  Outputs& outputs_;
  RankLoad load_;
  bool registered_ = false;  // the buffers of the row, on every rank of the group
  std::string pages_;        // of these buffers, over all ranks of the group
  /// The buffers of the current size. After a failure they stay: giving device memory back may
  /// block.
  std::optional<RowBuffers> buffers_;
};

}  // namespace busbar
