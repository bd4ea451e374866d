// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_memory.hpp"

#include <algorithm>
#include <limits>

namespace busbar {
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
