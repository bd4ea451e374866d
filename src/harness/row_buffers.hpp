// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "harness/memory_plan.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The memory of one size: for every slot a large buffer, which serves in place too, and where the
/// plan goes out of place a small one. "Large" is the larger of what is sent and received.
class RowBuffers {
 public:
  /// Throws Error where there is not enough memory.
  RowBuffers(Communicator& communicator, const SizePlan& plan);

  /// The calls of one placement, one per slot, all alike but for their buffers.
  [[nodiscard]] std::vector<Call> calls(Call like, bool in_place) const;
  /// Poisons what these calls receive and do not send.
  void poison_results(bool in_place);

 private:
  struct Slot {
    Buffer large;
    Buffer small;
  };

  Communicator& communicator_;
  Footprint footprint_;
  std::uint64_t segment_;
  std::vector<Slot> slots_;
};

}  // namespace busbar
