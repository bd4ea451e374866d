// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "harness/memory_plan.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The memory of one size: a large area, which serves in place too, and where the plan goes out of
/// place a small one; each has a part for every slot. "Large" is the larger of what is sent and
/// received.
class RowBuffers {
 public:
  /// Bytes that the buffers of a plan take: the argument of Communicator::reserve.
  [[nodiscard]] static Bytes bytes_of(const SizePlan& plan, Bytes offset);

  /// Data begins `offset` bytes after the parts' page boundaries (-u). Throws Error where there is
  /// not enough memory.
  RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset);

  /// Makes the memory known to the library, once every rank has it. Collective.
  void enlist();
  /// Communicator::huge_page_share of each area, where it is known.
  [[nodiscard]] std::vector<double> huge_page_shares() const;
  /// The calls of one placement, one per slot, all alike but for their buffers.
  [[nodiscard]] std::vector<Call> calls(Call like, bool in_place) const;
  /// Poisons what these calls receive and do not send.
  void poison_results(bool in_place);

 private:
  /// A slot's part of an area whose parts hold `bytes` each.
  [[nodiscard]] std::byte* part(const Buffer& area, Bytes bytes, std::uint64_t slot) const;

  Communicator& communicator_;
  Footprint footprint_;
  std::uint64_t segment_;
  std::uint64_t slots_;
  Bytes offset_;
  Buffer large_;
  Buffer small_;
};

}  // namespace busbar
