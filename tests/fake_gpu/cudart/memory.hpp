// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace fake_gpu {

/// Device memory of this process: the user gets addresses that nobody may touch, and the contents
/// lie elsewhere. Pinned host memory is remembered as such.
class Memory {
 public:
  /// False where the GPU has not that much left; fresh memory is full of junk.
  [[nodiscard]] bool allocate(int device, std::size_t bytes, void** user);
  /// False where this is not what allocate() gave.
  [[nodiscard]] bool release(void* user);
  /// The GPU of a pointer from allocate(), -1 where it is none.
  [[nodiscard]] int device_of(const void* user) const;
  [[nodiscard]] bool is_start(const void* user) const;
  /// The contents behind a device address, null unless all these bytes are in one allocation.
  [[nodiscard]] unsigned char* contents(const void* user, std::size_t bytes) const;

  [[nodiscard]] bool allocate_pinned(std::size_t bytes, void** user);
  [[nodiscard]] bool release_pinned(void* user);
  [[nodiscard]] bool is_pinned(const void* user, std::size_t bytes) const;

 private:
  struct Block {
    std::size_t bytes = 0;
    std::size_t pages_bytes = 0;
    unsigned char* contents = nullptr;
    int device = -1;
  };
  using Blocks = std::map<std::uintptr_t, Block>;

  [[nodiscard]] static const Block* find(const Blocks& blocks, std::uintptr_t at);

  mutable std::mutex mutex_;
  Blocks device_;
  Blocks pinned_;
};

}  // namespace fake_gpu
