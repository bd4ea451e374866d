// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/host.hpp"
#include "harness/options.hpp"
#include "harness/watchdog.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/row_key.hpp"

namespace busbar {

/// Who takes part in a measurement. Chunks begin together on all ranks of the job, also where its
/// groups measure a row each: what shares links in use is to share them here.
struct RoundGroup {
  Bootstrap& world;    ///< barriers, agreement
  Bootstrap& members;  ///< the ranks of the communicator, whose times become one row's samples
  bool idle = false;   ///< this rank only keeps step: it is in no group of the round

  /// Whether this rank decides for its row.
  [[nodiscard]] bool leads() const { return !idle && members.rank() == 0; }
};

/// What a chunk of operations between two barriers measured. Samples are combined over ranks and
/// the same on every rank, but for rank_times_us; disturbances are this rank's own.
struct ChunkResult {
  std::vector<double> samples_us;                  ///< time per operation, one per batch
  std::vector<Arrival> arrivals;                   ///< of each sample, where they were asked for
  std::vector<std::vector<double>> rank_times_us;  ///< the same, of all ranks; on the first
  std::vector<double> start_skew_us;  ///< last rank's start less first rank's, one per barrier
  double load_us = 0;                 ///< per operation of the work before it, slowest rank
  double enqueue_us = 0;  ///< host time per operation of issuing the chunk's first operations
  double host_us = 0;     ///< host time per operation from the first start to the last completion
  std::uint64_t operations = 0;
  Disturbances disturbances;
  double elapsed_s = 0;  ///< longest over ranks, barriers included
};

/// How many batches a chunk has and how many operations are in each.
struct ChunkShape {
  std::vector<std::uint64_t> batches;

  /// `operations` in batches of `batch`; a remainder goes to the first batches, one each.
  [[nodiscard]] static ChunkShape of(std::uint64_t operations, std::uint64_t batch);
};

/// Runs chunks: the only code between a start and a stop. Collective.
class ChunkRunner {
 public:
  struct Settings {
    Cadence cadence = Cadence::Streaming;
    Blocking blocking = Blocking::Off;
    Aggregation aggregation = Aggregation::Max;
    std::uint64_t group = 1;  ///< -m: operations that are given to the library as one
    /// -G: each batch is recorded once and launched that many times; 0: issued operation by
    /// operation. The first operation of a kind must have run before (harness/measurement.hpp).
    std::uint64_t graph_launches = 0;
    /// Isolated operations are issued while the device is held, where the backend can hold it. The
    /// first operation of a kind must have run before.
    bool hold = false;
    bool arrivals = false;    ///< note who is last: operations end at the same time for all ranks
    bool rank_times = false;  ///< keep every rank's times
    /// Work before each batch, outside its time; on a device it may only enqueue it.
    std::function<void()> prepare{};
  };

  /// `calls` are taken in turn, operation by operation. The tracker follows them.
  ChunkRunner(const RoundGroup& round_group, Communicator& communicator,
              std::span<const Call> calls, Settings settings, StepTracker& tracker);

  [[nodiscard]] ChunkResult run(const ChunkShape& shape);
  /// What the library chooses for operations as they will be issued, of some that are neither timed
  /// nor counted; on the rank that the library has report it, else nothing.
  [[nodiscard]] std::optional<LibraryChoice> observe();
  /// The operations that follow are of another part of the row: "timing".
  void begin_phase(const std::string& name) { tracker_.phase(name); }
  /// Operations so far.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  /// The calls [0, calls_used()) have run: all in turn, but every graph begins with the first.
  [[nodiscard]] std::uint64_t calls_used() const { return calls_used_; }

 private:
  [[nodiscard]] Clock::time_point prepare(Clock::time_point start);
  void issue(std::uint64_t count);
  /// Issues a chunk's first batch; the host's time per operation of issuing the first of it, in us.
  [[nodiscard]] double issue_first(std::uint64_t count, Clock::time_point start);
  void issue_operations(std::uint64_t count);
  void enqueue_group(std::uint64_t first, std::uint64_t count);
  void launch_graph(std::uint64_t count, std::uint64_t launches);
  void run_untimed_group();
  void run_streaming(const ChunkShape& shape, std::vector<double>& starts, ChunkResult& result);
  void run_isolated(const ChunkShape& shape, std::vector<double>& starts, ChunkResult& result);
  [[nodiscard]] Clock::time_point start_isolated(std::uint64_t count, ChunkResult& result);
  [[nodiscard]] Clock::time_point start_held(std::uint64_t count, ChunkResult& result);
  void record_graphs(const ChunkShape& shape);
  [[nodiscard]] std::vector<double> own_times(const ChunkShape& shape, ChunkResult& result);
  void combine(std::vector<double> times_us, ChunkResult& result);
  void combine_extremes(const std::vector<double>& starts, const std::vector<double>& times_us,
                        ChunkResult& result);
  void gather_times(const std::vector<double>& times_us, ChunkResult& result);

  RoundGroup round_group_;
  Communicator& communicator_;
  std::span<const Call> calls_;
  Settings settings_;
  StepTracker& tracker_;
  std::uint64_t operations_ = 0;
  std::uint64_t calls_used_ = 0;
  std::map<std::uint64_t, std::function<void()>> graphs_;  // by operations
};

}  // namespace busbar
