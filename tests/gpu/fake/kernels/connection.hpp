// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <nccl.h>

// Of the NCCL under test: the layout of what its host code writes for its kernels.
#include <collectives.h>
#include <device.h>

#include "tests/gpu/fake/cudart/runtime.hpp"

namespace fake_gpu {

/// As this process can touch what a kernel's pointer names: memory of a GPU, or pinned memory of
/// the host.
template <class T>
T* touch(T* pointer, std::size_t bytes = sizeof(T)) {
  auto* contents = memory().contents(pointer, bytes);
  return contents == nullptr ? pointer : reinterpret_cast<T*>(contents);
}

/// How a chunk is cut: into `slices`, each of which moves the connection's counter by `steps`.
struct Cut {
  int slices = 1;
  int steps = 1;
};

/// One direction of NCCL's connection to a peer by the Simple protocol: eight buffers in turn, and
/// a counter of steps on each side. Whether a proxy, a peer's kernel or shared memory is on the
/// other side makes no difference here.
class Connection {
 public:
  Connection() = default;
  Connection(ncclConnInfo* info, bool sends, Cut cut);
  /// False: there is no such side.
  explicit operator bool() const { return info_ != nullptr; }
  /// Has the other side freed a buffer, or filled one?
  [[nodiscard]] bool is_ready() const;
  /// Where the next slice lies, of so many bytes.
  [[nodiscard]] unsigned char* buffer(std::size_t bytes);
  /// Tells the other side that the slice is there, or was taken.
  void post();
  /// Leaves the counter where the next kernel looks for it.
  void save();

 private:
  ncclConnInfo* info_ = nullptr;
  bool sends_ = false;
  Cut cut_;
  std::uint64_t step_ = 0;
  std::uint64_t* mine_ = nullptr;
  std::uint64_t* theirs_ = nullptr;
  ncclConnFifo* fifo_ = nullptr;
};

}  // namespace fake_gpu
