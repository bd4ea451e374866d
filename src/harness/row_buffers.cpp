// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_buffers.hpp"

#include <algorithm>

namespace busbar {
namespace {

/// Bytes from slot to slot of the large and of the small area.
std::array<Bytes, 2> strides_of(const SizePlan& plan, Bytes offset) {
  const auto [small, large] = std::minmax(plan.footprint.send, plan.footprint.recv);
  return {slot_stride(large + offset), plan.out_of_place ? slot_stride(small + offset) : 0};
}

}  // namespace

Bytes RowBuffers::bytes_of(const SizePlan& plan, Bytes offset) {
  if (!plan.out_of_place && !plan.in_place) return 0;
  const auto [large, small] = strides_of(plan, offset);
  return (large + small) * plan.slots;
}

RowBuffers::RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset)
    : communicator_(communicator),
      plan_(plan),
      offset_(offset),
      strides_(strides_of(plan, offset)) {
  for (const Bytes stride : strides_) {
    if (stride > 0) areas_.push_back(communicator.allocate(stride * plan.slots));
  }
}

void RowBuffers::register_buffers() {
  for (const Buffer& area : areas_) communicator_.register_buffer(area);
}

std::vector<double> RowBuffers::huge_page_shares() const {
  std::vector<double> shares;
  for (const Buffer& area : areas_) {
    if (const auto share = communicator_.huge_page_share(area)) shares.push_back(*share);
  }
  return shares;
}

std::byte* RowBuffers::part(std::size_t area, std::uint64_t slot) const {
  if (area >= areas_.size()) return nullptr;
  return areas_[area].data() + slot * strides_.at(area) + offset_;
}

std::vector<Call> RowBuffers::calls(Call like, bool in_place) const {
  const Bytes element = info(like.type).size;
  const bool sends_more = plan_.footprint.send >= plan_.footprint.recv;
  like.count = plan_.footprint.count;
  like.traffic = plan_.footprint.traffic.get();
  like.segment = plan_.segment;
  like.in_place = in_place;
  std::vector<Call> calls;
  for (std::uint64_t slot = 0; slot < plan_.slots; ++slot) {
    like.send = part(sends_more ? 0 : 1, slot);
    like.recv = part(sends_more ? 1 : 0, slot);
    if (in_place) {
      const InPlace offsets = communicator_.in_place(*like.collective, like.count);
      like.send = part(0, slot) + offsets.send_offset * element;
      like.recv = part(0, slot) + offsets.recv_offset * element;
    }
    calls.push_back(like);
  }
  return calls;
}

void RowBuffers::poison_results(bool in_place) {
  const Footprint& footprint = plan_.footprint;
  const bool receives_more = footprint.recv > footprint.send;
  if (in_place && !receives_more) return;  // all of it is sent
  for (std::uint64_t slot = 0; slot < plan_.slots; ++slot) {
    communicator_.poison(part(receives_more ? 0 : 1, slot), footprint.recv);
  }
}

}  // namespace busbar
