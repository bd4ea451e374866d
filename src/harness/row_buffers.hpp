// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
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
  void register_buffers();
  /// Communicator::huge_page_share of each area, where it is known.
  [[nodiscard]] std::vector<double> huge_page_shares() const;
  /// The calls of one placement, one per slot, all alike but for their buffers.
  [[nodiscard]] std::vector<Call> calls(Call like, bool in_place) const;
  /// Poisons what these calls receive and do not send.
  void poison_results(bool in_place);

 private:
  /// Where the data of a slot begin in the large (0) or the small (1) area; null without that area.
  [[nodiscard]] std::byte* part(std::size_t area, std::uint64_t slot) const;

  Communicator& communicator_;
  SizePlan plan_;
  Bytes offset_;
  std::array<Bytes, 2> strides_;  // from slot to slot
  std::vector<Buffer> areas_;
};

}  // namespace busbar
