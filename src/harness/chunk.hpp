// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harness/host.hpp"
#include "harness/options.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// What a chunk of operations between two barriers measured. Samples are combined over ranks and
/// the same on every rank; disturbances are this rank's own.
struct ChunkResult {
  std::vector<double> samples_us;     ///< time per operation, one per batch
  std::vector<double> start_skew_us;  ///< last rank's start less first rank's, one per barrier
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
  };

  /// `calls` are taken in turn, operation by operation. `on_progress` is told of every operation
  /// that is complete, for the watchdog.
  ChunkRunner(Bootstrap& bootstrap, Communicator& communicator, std::span<const Call> calls,
              Settings settings, std::function<void()> on_progress);

  [[nodiscard]] ChunkResult run(const ChunkShape& shape);
  /// Operations so far: the calls [0, min(operations, calls)) have been used.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }

 private:
  void issue(std::uint64_t count);
  void run_streaming(const ChunkShape& shape, std::vector<double>& starts);
  void run_isolated(const ChunkShape& shape, std::vector<double>& starts);
  [[nodiscard]] std::vector<double> combine_samples(const ChunkShape& shape);

  Bootstrap& bootstrap_;
  Communicator& communicator_;
  std::span<const Call> calls_;
  Settings settings_;
  std::function<void()> on_progress_;
  std::uint64_t operations_ = 0;
};

}  // namespace busbar
