// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/kernels/connection.hpp"

#include <atomic>

namespace fake_gpu {
namespace {

std::uint64_t load(std::uint64_t* counter) {
  return std::atomic_ref<std::uint64_t>(*counter).load(std::memory_order_acquire);
}
void store(std::uint64_t* counter, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*counter).store(value, std::memory_order_release);
}

}  // namespace

Connection::Connection(ncclConnInfo* info, bool sends, Cut cut)
    : info_(touch(info)), sends_(sends), cut_(cut) {
  const auto unit = static_cast<std::uint64_t>(cut.slices * cut.steps);
  step_ = (info_->step + unit - 1) / unit * unit;
  mine_ = touch(sends ? info_->tail : info_->head);
  theirs_ = touch(sends ? info_->head : info_->tail);
  if (info_->connFifo != nullptr) fifo_ = touch(info_->connFifo, sizeof(ncclConnFifo) * NCCL_STEPS);
  if (!sends) store(mine_, step_);  // rounding up has skipped buffers: they are free
}

bool Connection::is_ready() const {
  const auto wanted = step_ + static_cast<std::uint64_t>(cut_.steps);
  return load(theirs_) + (sends_ ? NCCL_STEPS : 0) >= wanted;
}

unsigned char* Connection::buffer(std::size_t bytes) {
  char* start = info_->buffs[NCCL_PROTO_SIMPLE];
  ncclConnFifo* slot = fifo_ == nullptr ? nullptr : fifo_ + step_ % NCCL_STEPS;
  if (sends_ && slot != nullptr) slot->size = static_cast<ssize_t>(bytes);
  start += slot != nullptr && slot->mode == NCCL_MODE_OFFSET
               ? slot->offset
               : static_cast<int>(step_ % NCCL_STEPS) * info_->stepSize;
  return reinterpret_cast<unsigned char*>(touch(start, bytes));
}

void Connection::post() {
  step_ += static_cast<std::uint64_t>(cut_.steps);
  store(mine_, step_);
}

void Connection::save() { info_->step = step_; }

}  // namespace fake_gpu
