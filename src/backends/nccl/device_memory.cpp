// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_memory.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "backends/nccl/libraries.hpp"

// The fatbin: backend.mk.
extern "C" const unsigned char busbar_kernels[];  // NOLINT(readability-identifier-naming)

namespace busbar {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 2048;  // several for each multiprocessor of the largest devices
constexpr unsigned long long kVector = 16;  // bytes that a thread takes at a time

/// A launch over so many bytes; `arguments` are addresses of the kernel's arguments.
template <std::size_t N>
void launch(CUfunction kernel, unsigned long long bytes, std::array<void*, N> arguments,
            cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::min<unsigned long long>(bytes / (kVector * kThreads) + 1, kMostBlocks));
  check_driver(cuda().launch_kernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, stream,
                                    arguments.data(), nullptr));
}

}  // namespace

DeviceKernels::DeviceKernels() {
  check_driver(cuda().load_module(&module_, busbar_kernels));
  check_driver(cuda().get_kernel(&fill_, module_, "busbar_fill"));
  check_driver(cuda().get_kernel(&compare_, module_, "busbar_compare"));
}

void DeviceKernels::fill(unsigned char* to, unsigned long long bytes, DeviceTile tile,
                         unsigned long long first_byte, cudaStream_t stream) const {
  launch(fill_, bytes, std::array<void*, 5>{&to, &bytes, &tile.data, &tile.period, &first_byte},
         stream);
}

void DeviceKernels::compare(const unsigned char* data, unsigned long long count, unsigned element,
                            DeviceTile tile, unsigned long long first_byte,
                            DeviceComparison* result, cudaStream_t stream) const {
  unsigned long long* counts = &result->wrong;
  launch(
      compare_, count * element,
      std::array<void*, 7>{&data, &count, &element, &tile.data, &tile.period, &first_byte, &counts},
      stream);
}

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

namespace {

constexpr Bytes kLargestElement = 8;
constexpr Bytes kLargestTile = Pattern::kPeriod * kLargestElement;
constexpr Bytes kResultAt = (kLargestTile + kTileTail + 255) / 256 * 256;
constexpr int kPoison = 0xa5;

unsigned char* raw(std::byte* data) { return reinterpret_cast<unsigned char*>(data); }

unsigned char* allocate(Bytes bytes) {
  void* memory = nullptr;
  check_cuda(cuda().allocate(&memory, bytes));
  return static_cast<unsigned char*>(memory);
}

}  // namespace

// The allocation comes first: it creates the device's context, which the kernels are loaded into.
DeviceMemory::DeviceMemory(cudaStream_t stream)
    : stream_(stream), scratch_(allocate(kResultAt + sizeof(DeviceComparison))) {}

DeviceTile DeviceMemory::upload(const Tile& tile) {
  const Bytes period = Pattern::kPeriod * tile.element_size();
  const DeviceTile uploaded{.data = scratch_, .period = period};
  if (std::equal(uploaded_.begin(), uploaded_.end(), tile.data(), tile.data() + period)) {
    return uploaded;
  }
  // From pageable memory: the source may be changed as soon as the call returns.
  check_cuda(cuda().copy(scratch_, tile.data(), period, cudaMemcpyHostToDevice, stream_));
  check_cuda(
      cuda().copy(scratch_ + period, tile.data(), kTileTail, cudaMemcpyHostToDevice, stream_));
  uploaded_.assign(tile.data(), tile.data() + period);
  return uploaded;
}

void DeviceMemory::fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) {
  if (count == 0) return;
  const Bytes element = tile.element_size();
  kernels_.fill(raw(to), count * element, upload(tile), first % Pattern::kPeriod * element,
                stream_);
}

void DeviceMemory::poison(std::byte* to, Bytes bytes) {
  if (bytes > 0) check_cuda(cuda().set_bytes(to, kPoison, bytes, stream_));
}

void DeviceMemory::compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                           std::uint64_t first, DeviceComparison& result) {
  const Bytes element = tile.element_size();
  result = {.wrong = 0, .first_wrong = std::numeric_limits<unsigned long long>::max()};
  auto* found = reinterpret_cast<DeviceComparison*>(scratch_ + kResultAt);
  check_cuda(cuda().copy(found, &result, sizeof result, cudaMemcpyHostToDevice, stream_));
  kernels_.compare(reinterpret_cast<const unsigned char*>(data), count,
                   static_cast<unsigned>(element), upload(tile), first % Pattern::kPeriod * element,
                   found, stream_);
  check_cuda(cuda().copy(&result, found, sizeof result, cudaMemcpyDeviceToHost, stream_));
}

void DeviceMemory::read(std::byte* to, const std::byte* from, Bytes bytes) {
  check_cuda(cuda().copy(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
}

void DeviceMemory::write(std::byte* to, const std::byte* from, Bytes bytes) {
  check_cuda(cuda().copy(to, from, bytes, cudaMemcpyHostToDevice, stream_));
}

}  // namespace busbar
