// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "harness/options.hpp"
#include "harness/placement.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The memory that buffers come from, where it is scarcest; the same on every rank.
struct MemoryPool {
  std::string_view place = "host";  ///< what has it: a "host" or a "GPU"
  int ranks = 1;                    ///< that share it, where most do
  Bytes free = 0;                   ///< for all of them, before any buffer
  double share = 1;                 ///< of it that a plan may take
  bool by_option = false;           ///< `free` is --memory-limit

  [[nodiscard]] Bytes per_rank() const {
    return static_cast<Bytes>(static_cast<double>(free) * share) / static_cast<Bytes>(ranks);
  }
};

/// Host memory of the placements, or the free memory of the fullest device that a rank has.
/// Collective over the job.
[[nodiscard]] MemoryPool find_memory(Bootstrap& everyone, const Options& options,
                                     const Placements& placements, const Communicator& communicator,
                                     int device_sharers);

}  // namespace busbar
