// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_memory.hpp"

#include <limits>
#include <vector>

namespace busbar {
namespace {

constexpr Bytes kLargestElement = 8;
constexpr Bytes kLargestTile = Pattern::kPeriod * kLargestElement;
constexpr Bytes kResultAt = (kLargestTile + kTileTail + 255) / 256 * 256;
constexpr int kPoison = 0xa5;

unsigned char* raw(std::byte* data) { return reinterpret_cast<unsigned char*>(data); }

}  // namespace

DeviceMemory::DeviceMemory(cudaStream_t stream) : stream_(stream) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, kResultAt + sizeof(DeviceComparison)));
  scratch_ = static_cast<unsigned char*>(memory);
}

DeviceTile DeviceMemory::upload(const Tile& tile) {
  const Bytes period = Pattern::kPeriod * tile.element_size();
  // From pageable memory: the source may be changed as soon as the call returns.
  check_cuda(cudaMemcpyAsync(scratch_, tile.data(), period, cudaMemcpyHostToDevice, stream_));
  check_cuda(
      cudaMemcpyAsync(scratch_ + period, tile.data(), kTileTail, cudaMemcpyHostToDevice, stream_));
  return {.data = scratch_, .period = period};
}

void DeviceMemory::fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) {
  if (count == 0) return;
  const Bytes element = tile.element_size();
  check_cuda(launch_fill(raw(to), count * element, upload(tile), first % Pattern::kPeriod * element,
                         stream_));
}

void DeviceMemory::poison(std::byte* to, Bytes bytes) {
  if (bytes > 0) check_cuda(cudaMemsetAsync(to, kPoison, bytes, stream_));
}

void DeviceMemory::compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                           std::uint64_t first, DeviceComparison& result) {
  const Bytes element = tile.element_size();
  result = {.wrong = 0, .first_wrong = std::numeric_limits<unsigned long long>::max()};
  auto* found = reinterpret_cast<DeviceComparison*>(scratch_ + kResultAt);
  check_cuda(cudaMemcpyAsync(found, &result, sizeof result, cudaMemcpyHostToDevice, stream_));
  check_cuda(launch_compare(reinterpret_cast<const unsigned char*>(data), count,
                            static_cast<unsigned>(element), upload(tile),
                            first % Pattern::kPeriod * element, found, stream_));
  check_cuda(cudaMemcpyAsync(&result, found, sizeof result, cudaMemcpyDeviceToHost, stream_));
}

void DeviceMemory::read(std::byte* to, const std::byte* from, Bytes bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
}

void DeviceMemory::write(std::byte* to, const std::byte* from, Bytes bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
}

}  // namespace busbar
