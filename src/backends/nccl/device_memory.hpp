// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "backends/nccl/libraries.hpp"
#include "base/units.hpp"
#include "model/communicator.hpp"
#include "model/pattern.hpp"

namespace busbar {

/// So many of its first bytes follow a period in device memory: a vector may begin at any byte.
inline constexpr unsigned long long kTileTail = 32;

/// What a comparison found; in device memory.
struct DeviceComparison {
  unsigned long long wrong = 0;        ///< elements; is added to
  unsigned long long first_wrong = 0;  ///< the smallest index; is lowered
};

struct DeviceMemorySize {
  std::size_t free = 0;  ///< bytes
  std::size_t total = 0;
};
[[nodiscard]] DeviceMemorySize device_memory_now();

/// Device memory for buffers, taken from the library once and kept to the end: what NCCL knows of
/// an address, from -R or from the capture of a graph, stays true, as no other memory comes to lie
/// there. Ranks that ask alike get the same block at the same offset, as symmetric windows need it.
class DeviceArena {
 public:
  /// `forget` is called before a block is given back.
  explicit DeviceArena(std::function<void(std::byte*)> forget) : forget_(std::move(forget)) {}
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  ~DeviceArena() { give_back(); }

  /// The next block is so large at least.
  void reserve(Bytes bytes) { reserved_ = std::max(reserved_, bytes); }
  /// Memory on a multiple of 4096 bytes, or null where there is not enough.
  [[nodiscard]] std::byte* allocate(Bytes bytes);
  void release(const std::byte* data);

  struct Block {
    std::byte* data = nullptr;
    Bytes size = 0;
    Bytes used = 0;       ///< from its beginning
    int buffers = 0;      ///< in use; the block is empty again when all are released
    Bytes of_device = 0;  ///< what the device has less for it
  };
  /// The block that memory of `allocate` lies in.
  [[nodiscard]] const Block& block_of(const std::byte* data) const;
  /// What the device has less for all blocks, now.
  [[nodiscard]] Bytes taken() const;

 private:
  [[nodiscard]] Block* add_block(Bytes bytes);
  /// Blocks without a buffer go back to the device.
  void give_back();

  std::function<void(std::byte*)> forget_;
  Bytes reserved_ = 0;
  std::vector<Block> blocks_;  // in the order of their allocation, which is that of all ranks
};

/// Fills and compares device memory on a stream by our own kernels (kernels.cuh), which are loaded
/// for the current device. Keeps a little device memory for the pattern and the result.
class DeviceMemory {
 public:
  explicit DeviceMemory(cudaStream_t stream);

  /// As in Communicator; enqueued on the stream, not waited for.
  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first);
  void poison(std::byte* to, Bytes bytes);
  void copy(std::byte* to, const std::byte* from, Bytes bytes);  ///< also from and to the host

  /// Enqueues a comparison; `result` is written when the stream gets there.
  void compare(const std::byte* data, std::uint64_t count, const Tile& tile, std::uint64_t first,
               DeviceComparison& result);

 private:
  /// Puts the tile at the beginning of scratch_, unless it is the last one's; its period in bytes.
  [[nodiscard]] unsigned long long upload(const Tile& tile);

  cudaStream_t stream_;
  CudaOwned<std::byte*> scratch_;    // a tile, its tail, a DeviceComparison
  std::vector<std::byte> uploaded_;  // the tile that scratch_ holds
  CudaOwned<CUmodule> kernels_;
  CUfunction fill_ = nullptr;
  CUfunction compare_ = nullptr;
};

/// A load of the current device: a kernel of ours on a stream of its own, a few launches ahead.
class DeviceLoad final : public SideWork {
 public:
  /// Copies the one to the other, of the same size.
  DeviceLoad(Buffer from, Buffer to);
  /// Computes; a pass takes that time on a device that does nothing else.
  explicit DeviceLoad(Seconds spin);

  void attach() override;
  void pass() override;
  void drain() override;

 private:
  void launch();

  int device_ = 0;
  unsigned blocks_ = 1;
  CudaOwned<cudaStream_t> stream_ = make_cuda_stream();
  CudaOwned<std::byte*> result_;
  CudaOwned<CUmodule> kernels_;
  CUfunction copy_ = nullptr;
  CUfunction spin_ = nullptr;
  Buffer from_{};
  Buffer to_{};
  unsigned long long turns_ = 0;
  std::array<CudaOwned<cudaEvent_t>, 4> ends_{};  // of the last passes
  std::size_t next_ = 0;
};

}  // namespace busbar
