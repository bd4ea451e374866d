// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/chunk.hpp"
#include "harness/options.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/side_load.hpp"

namespace busbar {

/// Work that each rank does before each operation, outside the timed part (--load,
/// --inject-delay): a rank that is slow at it arrives late. Or what runs beside the operations.
class RankLoad {
 public:
  /// Memory of each rank that --load takes.
  [[nodiscard]] static Bytes bytes(const Options& options) {
    return options.load ? 2 * options.load->copy : 0;
  }

  /// Takes the memory of --load copy, and finds out how much spinning is --load spin on the rank
  /// that is quickest at it: all do as much. Throws Error (Unavailable) where there is no memory.
  /// Collective over the job.
  RankLoad(const Options& options, Bootstrap& world, Communicator& communicator);

  /// Delays as these options have it from now on.
  void delay(const Options& options, int rank);
  /// True where there is something to do, on some rank at least.
  [[nodiscard]] bool any() const { return loads_ || delays_; }
  /// True where the host does it, and not the device.
  [[nodiscard]] bool on_host() const { return turns_ > 0 || delays_; }
  /// --load beside; null where it is not asked for, and on a rank that is in no group.
  [[nodiscard]] SideLoad* beside() { return beside_ ? &*beside_ : nullptr; }
  /// Does it once; a copy in device memory is only enqueued.
  void run();

 private:
  Communicator& communicator_;
  bool loads_;
  bool delays_ = false;  ///< some rank is delayed
  Seconds delay_{};      ///< of this rank
  std::uint64_t turns_ = 0;
  Bytes copied_ = 0;
  Buffer from_{};
  Buffer to_{};
  /// Here, as what failed may not be waited for before the run has been aborted.
  std::optional<SideLoad> beside_{};
};

/// One turn of a row and the load of --load beside: each by itself, and both together.
struct BesideTurn {
  double alone_us = 0;     ///< mean time of an operation
  double loaded_us = 0;    ///< the same beside the load
  double load_alone = 0;   ///< rate of the load of all ranks
  double load_beside = 0;  ///< the same beside operations
};

/// By how much they slow each other: medians over turns, of ratios within a turn, as the machine
/// may change from one to the next.
struct BesideEffect {
  double loaded_us = 0;
  double operation_slowdown = 0;
  std::optional<double> load_slowdown{};  ///< nothing where the load came to a halt in half of them
};
/// At least one turn.
[[nodiscard]] BesideEffect effect_of(std::span<const BesideTurn> turns);

/// Measures a row's turns with its warm chunks, in samples of `batch` operations; a few turns at
/// any rate, more within the budget. `load` is null on a rank that is in no group. Throws what the
/// load throws. Collective over the job.
[[nodiscard]] BesideEffect measure_beside(const RoundGroup& round_group, ChunkRunner& chunks,
                                          SideLoad* load, std::uint64_t batch, double budget_s);

}  // namespace busbar
