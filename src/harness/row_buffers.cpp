// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_buffers.hpp"

#include <algorithm>

namespace busbar {
namespace {

Bytes larger(const Footprint& footprint) { return std::max(footprint.send, footprint.recv); }
Bytes smaller(const Footprint& footprint) { return std::min(footprint.send, footprint.recv); }

Bytes large_area(const SizePlan& plan, Bytes offset) {
  return slot_stride(larger(plan.footprint) + offset) * plan.slots;
}

Bytes small_area(const SizePlan& plan, Bytes offset) {
  return plan.out_of_place ? slot_stride(smaller(plan.footprint) + offset) * plan.slots : 0;
}

}  // namespace

Bytes RowBuffers::bytes_of(const SizePlan& plan, Bytes offset) {
  if (!plan.out_of_place && !plan.in_place) return 0;
  return large_area(plan, offset) + small_area(plan, offset);
}

RowBuffers::RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset)
    : communicator_(communicator),
      footprint_(plan.footprint),
      segment_(plan.segment),
      slots_(plan.slots),
      offset_(offset),
      large_(communicator.allocate(large_area(plan, offset))) {
  if (plan.out_of_place) small_ = communicator.allocate(small_area(plan, offset));
}

void RowBuffers::enlist() {
  communicator_.enlist(large_);
  if (small_.data() != nullptr) communicator_.enlist(small_);
}

std::vector<double> RowBuffers::huge_page_shares() const {
  std::vector<double> shares;
  for (const Buffer* area : {&large_, &small_}) {
    if (area->data() == nullptr) continue;
    if (const auto share = communicator_.huge_page_share(*area)) shares.push_back(*share);
  }
  return shares;
}

std::byte* RowBuffers::part(const Buffer& area, Bytes bytes, std::uint64_t slot) const {
  if (area.data() == nullptr) return nullptr;
  return area.data() + slot * slot_stride(bytes + offset_) + offset_;
}

std::vector<Call> RowBuffers::calls(Call like, bool in_place) const {
  const Bytes element = info(like.type).size;
  const bool sends_more = footprint_.send >= footprint_.recv;
  like.count = footprint_.count;
  like.segment = segment_;
  like.in_place = in_place;
  std::vector<Call> calls;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    std::byte* large = part(large_, larger(footprint_), slot);
    std::byte* small = part(small_, smaller(footprint_), slot);
    like.send = sends_more ? large : small;
    like.recv = sends_more ? small : large;
    if (in_place) {
      const InPlace offsets = communicator_.in_place(*like.collective, like.count);
      like.send = large + offsets.send_offset * element;
      like.recv = large + offsets.recv_offset * element;
    }
    calls.push_back(like);
  }
  return calls;
}

void RowBuffers::poison_results(bool in_place) {
  if (in_place && footprint_.recv <= footprint_.send) return;  // all of it is sent
  const bool is_large = in_place || footprint_.recv > footprint_.send;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    std::byte* result =
        is_large ? part(large_, larger(footprint_), slot) : part(small_, smaller(footprint_), slot);
    communicator_.poison(result, footprint_.recv);
  }
}

}  // namespace busbar
