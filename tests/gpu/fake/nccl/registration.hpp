// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "tests/gpu/fake/cudart/memory.hpp"

namespace fake_gpu {

/// What NCCL knows of user buffers, by range of addresses. Other ranks write to the memory that
/// lay there when the range was first used: not to what was mapped there later.
class RegistrationCache {
 public:
  enum class By { User, Graph };

  /// The handle of a range, which lies in a known one or is new.
  [[nodiscard]] void* add(const void* start, std::size_t bytes, By by);
  /// False where there is no such handle; the range is forgotten with the last reference.
  [[nodiscard]] bool remove(void* handle, By by);
  /// The memory that other ranks write to for this buffer; null where the user did not register it.
  [[nodiscard]] Pages find_by_user(const void* start, std::size_t bytes);
  /// The same for a buffer whose handle the caller has.
  [[nodiscard]] Pages pages_of(void* handle, const void* start, std::size_t bytes);

 private:
  struct Slot {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    int users = 0;
    int graphs = 0;
    /// Of the first use, and the address of its first byte.
    Pages pages{};
    std::uintptr_t pages_start = 0;
    std::size_t pages_bytes = 0;
  };

  [[nodiscard]] static Pages resolve(Slot& slot, const void* start, std::size_t bytes);
  [[nodiscard]] std::vector<std::unique_ptr<Slot>>::iterator find(void* handle);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace fake_gpu
