// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_arena.hpp"

#include <algorithm>
#include <iterator>

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
  const auto fits = [size](const auto& entry) {
    return entry.second.size - entry.second.used >= size;
  };
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), fits);
  std::byte* base = found == blocks_.end() ? add_block(size) : found->first;
  if (base == nullptr) return nullptr;
  Block& block = blocks_.at(base);
  std::byte* data = base + block.used;
  block.used += size;
  ++block.buffers;
  return data;
}

void DeviceArena::release(std::byte* data) {
  Block& block = blocks_.at(block_of(data).first);
  if (--block.buffers == 0) block.used = 0;
}

const std::pair<std::byte* const, DeviceArena::Block>& DeviceArena::block_of(
    std::byte* data) const {
  return *std::prev(blocks_.upper_bound(data));
}

Bytes DeviceArena::taken() const {
  Bytes sum = 0;
  for (const auto& [base, block] : blocks_) sum += block.of_device;
  return sum;
}

std::byte* DeviceArena::add_block(Bytes bytes) {
  const Bytes before = free_device_memory_now();
  Bytes size = std::max(bytes, reserved_);
  std::byte* memory = allocate_device_memory(size);
  if (memory == nullptr) {  // what is kept for later may be what is missing now
    give_back();
    size = bytes;
    memory = allocate_device_memory(size);
  }
  if (memory == nullptr) return nullptr;
  const Bytes after = free_device_memory_now();
  // On a device that others use too, the difference may be anything.
  blocks_[memory] = {.size = size, .of_device = before > after ? before - after : size};
  return memory;
}

void DeviceArena::give_back() {
  for (auto entry = blocks_.begin(); entry != blocks_.end();) {
    if (entry->second.buffers > 0) {
      ++entry;
      continue;
    }
    forget_(entry->first);
    release_device_memory(entry->first);
    entry = blocks_.erase(entry);
  }
}

}  // namespace busbar
