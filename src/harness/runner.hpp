// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/row_table.hpp"

namespace busbar {

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

/// Goes over the rounds of a launch, and has the communicators of one at a time, from connecting to
/// giving them back. Each group connects by itself: parts of one communicator of all ranks
/// (ncclCommSplit) would need that one first, with its connections and memory, for as long as the
/// launch lasts.
class RoundRunner {
 public:
  /// Both outlive it.
  RoundRunner(const WholeJob& job, Outputs& outputs)
      : job_(job), table_(job.options, job.collective, job.plan), outputs_(outputs) {}

  /// Connects the first round that has something to measure; the first of all where none has.
  /// Collective.
  void connect_first();
  /// Goes over all rounds as often as was asked for, and connects those that have something to
  /// measure. Collective.
  void run();

  /// @name Of the round that is connected
  /// @{
  [[nodiscard]] const Run& connected() const { return *run_; }
  /// What the library took for a first operation.
  [[nodiscard]] Bytes library_growth() const { return library_growth_; }
  /// @}
  /// -M: the most of all rounds and ranks. Collective.
  [[nodiscard]] std::string memory_use_text();

 private:
  /// The order of the rounds in a pass.
  [[nodiscard]] std::vector<std::size_t> order(std::uint64_t pass) const;
  [[nodiscard]] bool is_done(std::size_t round, std::uint64_t pass) const;
  /// Connects the groups of a round where it is not the one that is connected, which is given back.
  void connect(std::size_t round);
  void disconnect();
  void begin_step(std::size_t round, const std::string& what);
  /// Measures what the rows of the round are planned and judged by. Collective.
  void complete(Run& run);
  void note_memory_use();

  const WholeJob& job_;
  RowTable table_;
  Outputs& outputs_;
  DeviceMemoryUse memory_use_{};
  std::optional<std::size_t> round_{};
  // The last is given back first.
  std::unique_ptr<Bootstrap> part_{};
  std::unique_ptr<Communicator> communicator_{};
  std::optional<Run> run_{};
  std::optional<Runner> runner_{};
  Bytes library_growth_ = 0;
};

}  // namespace busbar
