// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/bounds.hpp"
#include "harness/job.hpp"
#include "harness/load.hpp"
#include "harness/memory_plan.hpp"
#include "harness/planned_row.hpp"
#include "harness/row_buffers.hpp"
#include "harness/verifier.hpp"

namespace busbar {

/// A round whose ranks are connected, and what was found.
struct ConnectedRound {
  RoundGroup ranks;  ///< of the communicator: all, or a group of the round
  Communicator& communicator;
  std::size_t number = 0;           ///< of the plan
  const RankGroup* mine = nullptr;  ///< this rank's group; null: it has none
  double connect_s = 0;             ///< that connecting took, of the slowest rank of the job
  double group_connect_s = 0;       ///< and of the group
  MemoryPool memory{};
  double timer_cost_s = 0;
  Bytes device_cache = 0;    ///< largest of all ranks' devices; 0 on host memory
  SetBound bound{};          ///< of this rank's group
  Bytes library_growth = 0;  ///< that the library took for a first operation
};

/// What a row is measured with.
struct RowSetup {
  const Job& job;
  const PlannedRow& row;
  const ConnectedRound& round;
  const SizePlan& plan;
  const Call& like;  ///< every call of the row but for its buffers
  Verifier& verifier;
  RankLoad& load;
  std::string obstacle{};         ///< why it cannot be measured, on some rank at least
  RowBuffers* buffers = nullptr;  ///< there without an obstacle
  bool registered = false;        ///< the buffers, on every rank of the group
  std::string pages{};            ///< of the buffers, over all ranks of the group

  /// Those of the row's variant.
  [[nodiscard]] const Options& options() const { return job.options_of(row.variant); }
  [[nodiscard]] std::uint64_t sent_elements() const {
    return plan.footprint.send / info(row.type).size;
  }
};

/// "round 3, group 1 (h1 h4): "; empty where all ranks are one group.
[[nodiscard]] std::string round_prefix(const GroupPlan& plan, std::size_t round,
                                       const RankGroup* mine);

/// Has the communicators of one round at a time, from connecting to giving them back, and the
/// buffers of one size. Each group connects by itself: parts of one communicator of all ranks
/// (ncclCommSplit) would need that one first, with its connections and memory, for as long as the
/// launch lasts. After a failure all stay: giving device memory back may block.
class Connected {
 public:
  /// Both outlive it.
  Connected(const Job& job, std::span<const PlannedRow> rows) : job_(job), rows_(rows) {}

  /// Connects the groups of a round where it is not the one that is connected, which is given back,
  /// and takes the memory of --load. On devices runs one untimed operation, so that memory is
  /// planned from what the library leaves. Collective.
  const ConnectedRound& connect(std::size_t round);
  /// Connects the row's round, plans its sweep and allocates for its size. Collective.
  [[nodiscard]] RowSetup prepare(const PlannedRow& row);
  /// The plans of all sizes for one type and operation, in the round that is connected.
  [[nodiscard]] std::vector<SizePlan> plan_sweep(DataType type, ReduceOp op,
                                                 Bytes library_growth) const;
  /// -M: the most of all rounds and ranks. Collective.
  [[nodiscard]] std::string memory_use_text();

 private:
  /// The sweep of the rows that are measured, at this pass.
  struct Sweep {
    std::size_t number = 0;
    std::uint64_t pass = 0;
    Call like{};
    std::vector<SizePlan> plans{};
    Verifier verifier;
    std::optional<std::size_t> allocated{};  ///< number of the size that has buffers
  };

  void disconnect();
  void begin_step(std::size_t round, const std::string& what);
  /// Measures what the rows of the round are planned and judged by. Collective.
  void complete();
  void run_first_operation();
  void begin_sweep(const PlannedRow& row);
  [[nodiscard]] Call call_like(const PlannedRow& row) const;
  [[nodiscard]] MemoryRequest memory_request(DataType type, ReduceOp op) const;
  [[nodiscard]] SizePlan plan_of(const MemoryRequest& request, Bytes size) const;
  [[nodiscard]] Bytes offset_of(DataType type) const;
  /// On the rank where the library has taken most, so that all ranks make the same plan.
  /// Collective.
  [[nodiscard]] Bytes largest_growth() const;
  /// Buffers on every rank or on none. Collective.
  [[nodiscard]] bool try_allocate(const SizePlan& plan, Bytes offset);
  void note_memory_use();

  const Job& job_;
  std::span<const PlannedRow> rows_;
  DeviceMemoryUse memory_use_{};
  // The last is given back first.
  std::unique_ptr<Bootstrap> part_{};
  std::shared_ptr<Communicator> communicator_{};
  std::optional<ConnectedRound> round_{};
  std::optional<RankLoad> load_{};
  std::optional<Sweep> sweep_{};
  std::optional<RowBuffers> buffers_{};
  bool registered_ = false;
  std::string pages_{};
};

}  // namespace busbar
