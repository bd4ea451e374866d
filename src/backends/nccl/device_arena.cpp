// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_arena.hpp"

#include <algorithm>

#include "backends/nccl/nccl_api.hpp"

namespace busbar {
namespace {

constexpr Bytes kAlignment = 4096;  // symmetric windows begin and end on it

/// ncclMemAlloc, which registration needs, else cudaMalloc; null where there is not enough memory.
std::byte* allocate_device_memory(Bytes bytes) {
  void* memory = nullptr;
  const bool allocated = nccl().allocate ? nccl().allocate(&memory, bytes) == ncclSuccess
                                         : cuda().allocate(&memory, bytes) == cudaSuccess;
  if (allocated) return static_cast<std::byte*>(memory);
  (void)cuda().take_last_error();  // reported here, not by the next call
  return nullptr;
}

void release_device_memory(std::byte* memory) {
  if (nccl().release) {
    (void)nccl().release(memory);
  } else {
    (void)cuda().release(memory);
  }
}

}  // namespace

Bytes free_device_memory_now() {
  Bytes free = 0;
  Bytes total = 0;
  check_cuda(cuda().get_memory(&free, &total));
  return free;
}

std::byte* DeviceArena::allocate(Bytes bytes) {
  const Bytes size = std::max<Bytes>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment;
  const auto fits = [size](const Block& block) { return block.size - block.used >= size; };
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), fits);
  Block* block = found == blocks_.end() ? add_block(size) : &*found;
  if (block == nullptr) return nullptr;
  std::byte* data = block->data + block->used;
  block->used += size;
  ++block->buffers;
  return data;
}

void DeviceArena::release(const std::byte* data) {
  Block& block = blocks_[static_cast<std::size_t>(&block_of(data) - blocks_.data())];
  if (--block.buffers == 0) block.used = 0;
}

const DeviceArena::Block& DeviceArena::block_of(const std::byte* data) const {
  return *std::find_if(blocks_.begin(), blocks_.end(), [data](const Block& block) {
    return data >= block.data && data < block.data + block.size;
  });
}

Bytes DeviceArena::taken() const {
  Bytes sum = 0;
  for (const Block& block : blocks_) sum += block.of_device;
  return sum;
}

DeviceArena::Block* DeviceArena::add_block(Bytes bytes) {
  const Bytes before = free_device_memory_now();
  Bytes size = std::max(bytes, reserved_);
  std::byte* memory = allocate_device_memory(size);
  if (memory == nullptr) {  // what is kept for later may be what is missing now
    give_back();
    size = bytes;
    memory = allocate_device_memory(size);
  }
  const Bytes after = free_device_memory_now();  // throws where the device is lost
  if (memory == nullptr) return nullptr;
  // On a device that others use too, the difference may be anything.
  blocks_.push_back(
      {.data = memory, .size = size, .of_device = before > after ? before - after : size});
  return &blocks_.back();
}

void DeviceArena::give_back() {
  const auto in_use = [](const Block& block) { return block.buffers > 0; };
  const auto unused = std::stable_partition(blocks_.begin(), blocks_.end(), in_use);
  for (auto block = unused; block != blocks_.end(); ++block) {
    forget_(block->data);
    release_device_memory(block->data);
  }
  blocks_.erase(unused, blocks_.end());
}

}  // namespace busbar
