// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

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

}  // namespace busbar
