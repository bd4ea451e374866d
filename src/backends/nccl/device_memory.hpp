// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "backends/nccl/device_kernels.hpp"
#include "base/units.hpp"
#include "model/communicator.hpp"
#include "model/pattern.hpp"

namespace busbar {

/// Fills and compares device memory on a stream. Keeps a little device memory for the pattern and
/// the result.
class DeviceMemory {
 public:
  explicit DeviceMemory(cudaStream_t stream);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { (void)cuda().release(scratch_); }

  /// @name As in Communicator; enqueued on the stream, not waited for
  /// @{
  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first);
  void poison(std::byte* to, Bytes bytes);
  /// @}

  /// Enqueues a comparison; `result` is written when the stream gets there.
  void compare(const std::byte* data, std::uint64_t count, const Tile& tile, std::uint64_t first,
               DeviceComparison& result);
  /// Copies from the device; enqueued.
  void read(std::byte* to, const std::byte* from, Bytes bytes);
  void write(std::byte* to, const std::byte* from, Bytes bytes);

 private:
  /// The tile in device memory; copied there unless it is the last one's.
  [[nodiscard]] DeviceTile upload(const Tile& tile);

  cudaStream_t stream_;
  unsigned char* scratch_ = nullptr;  // a tile, its tail, a DeviceComparison
  std::vector<std::byte> uploaded_;   // the tile that scratch_ holds
  DeviceKernels kernels_;
};

}  // namespace busbar
