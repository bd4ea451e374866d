// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_buffers.hpp"

#include <algorithm>

namespace busbar {

RowBuffers::RowBuffers(Communicator& communicator, const SizePlan& plan)
    : communicator_(communicator), footprint_(plan.footprint), segment_(plan.segment) {
  for (std::uint64_t i = 0; i < plan.slots; ++i) {
    Slot slot;
    slot.large = communicator.allocate(std::max(footprint_.send, footprint_.recv));
    if (plan.out_of_place) {
      slot.small = communicator.allocate(std::min(footprint_.send, footprint_.recv));
    }
    slots_.push_back(std::move(slot));
  }
}

std::vector<Call> RowBuffers::calls(Call like, bool in_place) const {
  const Bytes element = info(like.type).size;
  const bool sends_more = footprint_.send >= footprint_.recv;
  like.count = footprint_.count;
  like.segment = segment_;
  like.in_place = in_place;
  std::vector<Call> calls;
  for (const Slot& slot : slots_) {
    like.send = (sends_more ? slot.large : slot.small).data();
    like.recv = (sends_more ? slot.small : slot.large).data();
    if (in_place) {
      const InPlace offsets = communicator_.in_place(*like.collective, like.count);
      like.send = slot.large.data() + offsets.send_offset * element;
      like.recv = slot.large.data() + offsets.recv_offset * element;
    }
    calls.push_back(like);
  }
  return calls;
}

void RowBuffers::poison_results(bool in_place) {
  if (in_place && footprint_.recv <= footprint_.send) return;  // all of it is sent
  const bool large = in_place || footprint_.recv > footprint_.send;
  for (const Slot& slot : slots_) {
    communicator_.poison((large ? slot.large : slot.small).data(), footprint_.recv);
  }
}

}  // namespace busbar
