// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace fake_gpu {

/// How much of each GPU's memory the processes of this machine hold: a small mapped file with one
/// slot per process. A process holds a lock on its slot, which the kernel drops when it dies.
class Ledger {
 public:
  explicit Ledger(const std::string& path);
  ~Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Books memory of a GPU; false, and nothing booked, where it would exceed the capacity.
  [[nodiscard]] bool take(int gpu, std::uint64_t bytes, std::uint64_t capacity);
  void give(int gpu, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t taken(int gpu);

 private:
  struct Slot;
  class Locked;

  [[nodiscard]] bool is_alive(int slot) const;
  [[nodiscard]] std::uint64_t sum(int gpu);

  int file_ = -1;
  int mine_ = -1;
  Slot* slots_ = nullptr;
  std::mutex mutex_;
};

/// The ledger of this user's machine(), in $TMPDIR or /dev/shm.
[[nodiscard]] Ledger& ledger();

}  // namespace fake_gpu
