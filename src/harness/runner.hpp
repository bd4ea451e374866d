// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "harness/memory_plan.hpp"
#include "harness/options.hpp"
#include "harness/outputs.hpp"
#include "harness/placement.hpp"
#include "harness/row_buffers.hpp"
#include "harness/sampler.hpp"
#include "harness/verifier.hpp"
#include "harness/watchdog.hpp"

namespace busbar {

/// What a run is made of; all outlive the runner.
struct RunParts {
  const Options& options;
  const Collective& collective;
  std::string_view backend;
  Bootstrap& bootstrap;
  Communicator& communicator;
  const Placements& placements;
  Progress progress;
  double timer_cost_s;
  Watchdog& watchdog;
};

/// Plans every size of a sweep for one type and operation; the same on every rank.
[[nodiscard]] std::vector<SizePlan> plan_sweep(const RunParts& parts, DataType type, ReduceOp op);

/// Measures all rows: cycles, types, operations, roots, sizes, placements, in this order.
class Runner {
 public:
  Runner(const RunParts& parts, Outputs& outputs);

  /// Collective.
  void run();

 private:
  /// What all sizes of one sweep have in common.
  struct SweepKey {
    std::uint64_t cycle = 0;
    DataType type = DataType::Float;
    ReduceOp op = ReduceOp::None;
    int root = 0;
  };

  void run_cycle(std::uint64_t cycle);
  void run_sweep(const SweepKey& key);
  void run_size(const SweepKey& key, const SizePlan& plan, Verifier& verifier);
  [[nodiscard]] Record blank(const SweepKey& key, const SizePlan& plan, bool in_place) const;
  [[nodiscard]] Call call_like(const SweepKey& key) const;
  /// "all-reduce 64 MiB in place"
  [[nodiscard]] std::string row_name(const Record& record) const;
  /// Why a row cannot be measured, or empty: then the buffers are there. Collective.
  [[nodiscard]] std::string find_obstacle(const SizePlan& plan, bool in_place,
                                          std::optional<RowBuffers>& buffers);
  /// Buffers on every rank or on none. Collective.
  [[nodiscard]] bool try_allocate(const SizePlan& plan, std::optional<RowBuffers>& buffers);
  void skip(Record record, const std::string& reason);
  /// Measures a row and writes it; where that fails it is written as failed before the error goes
  /// on.
  void measure_or_fail(Record record, const Call& like, const SizePlan& plan, RowBuffers& buffers,
                       Verifier& verifier);
  /// Fills the record; the row's samples in us.
  [[nodiscard]] std::vector<double> measure(Record& record, const Call& like, const SizePlan& plan,
                                            RowBuffers& buffers, Verifier& verifier);
  [[nodiscard]] Verdict verify(std::span<const Call> calls, std::uint64_t sent, RowBuffers& buffers,
                               Verifier& verifier, const ChunkRunner& chunks);
  [[nodiscard]] std::vector<int> roots() const;
  [[nodiscard]] SamplingPlan sampling_plan() const;
  [[nodiscard]] ProgressReport progress_report(const Record& record);

  RunParts parts_;
  const Options& options_;
  Outputs& outputs_;
};

}  // namespace busbar
