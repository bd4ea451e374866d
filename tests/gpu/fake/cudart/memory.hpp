// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>

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

/// Physical memory, which lives as long as anyone knows it, whatever its address shows by then.
using Pages = std::shared_ptr<unsigned char>;

/// A process's memory in the eyes of another: the contents of all devices lie in one file in
/// memory, of the same size for all, which whoever knows its number may map.
struct SharedContents {
  int process = 0;
  int file = -1;
};
[[nodiscard]] SharedContents own_contents();
/// Where the file is mapped in this process: an offset in it says what a pointer does elsewhere.
[[nodiscard]] unsigned char* contents_start();
/// Maps another process's contents to be read; null where it is gone.
[[nodiscard]] const unsigned char* map_contents(const SharedContents& other);
void unmap_contents(const unsigned char* start);

/// Physical memory of a GPU, or with device -1 of the host, as CUDA's virtual memory functions make
/// it: a file of its own, which another process maps by its descriptor.
class Physical {
 public:
  /// Null where the GPU has not that much left; memory of the host is not booked.
  [[nodiscard]] static std::shared_ptr<Physical> make(int device, std::size_t bytes);
  /// All of a file that make() made in whatever process; `file` becomes this one's.
  [[nodiscard]] static std::shared_ptr<Physical> import(int file);
  /// Bytes of another process's contents.
  [[nodiscard]] static std::shared_ptr<Physical> import(const SharedContents& other, int device,
                                                        off_t offset, std::size_t bytes);
  ~Physical();
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  [[nodiscard]] unsigned char* view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int file() const { return file_; }

 private:
  Physical(int file, off_t offset, std::size_t bytes, int device);

  int file_;
  std::size_t bytes_;
  int device_;
  int booked_on_ = -1;  ///< place of the GPU; -1: nowhere
  unsigned char* view_;
};

using PhysicalPointer = std::shared_ptr<Physical>;

/// Address space that is given out in parts.
class Region {
 public:
  explicit Region(void* begin);
  /// The lowest part of this size that is free again, as CUDA gives them, else one never used.
  [[nodiscard]] std::uintptr_t take(std::size_t bytes);
  void give(std::uintptr_t begin, std::size_t bytes) { free_[bytes].insert(begin); }

 private:
  std::map<std::size_t, std::set<std::uintptr_t>> free_;
  std::uintptr_t unused_;
  std::uintptr_t end_;
};

/// What CUDA gives device memory in.
constexpr std::size_t kGranule = 2 << 20;

enum class MemoryKind {
  Plain,
  /// Of the virtual memory functions, as ncclMemAlloc makes it: the only kind that can be shared.
  Virtual
};

/// The allocation around a device address.
struct Allocation {
  std::uintptr_t start = 0;
  /// As CUDA's driver reports it: whole granules of virtual memory.
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::Plain;
  Pages pages;
  int device = -1;
  PhysicalPointer physical;  ///< of what map() mapped
};

/// Device memory of this process: the user gets addresses that nobody may touch, and the contents
/// lie elsewhere. Addresses are used again as soon as they are free. Pinned host memory is
/// remembered as such.
class Memory {
 public:
  Memory();
  /// False where the GPU has not that much left; fresh memory is full of junk.
  [[nodiscard]] bool allocate(int device, std::size_t bytes, void** user,
                              MemoryKind kind = MemoryKind::Plain);
  /// False where this is not what allocate() gave.
  [[nodiscard]] bool release(void* user);
  /// The GPU of a pointer from allocate(), -1 where it is none.
  [[nodiscard]] int device_of(const void* user) const;
  [[nodiscard]] bool is_start(const void* user) const;
  /// The contents behind a device address, null unless all these bytes are in one allocation.
  [[nodiscard]] unsigned char* contents(const void* user, std::size_t bytes) const;
  [[nodiscard]] std::optional<Allocation> allocation(const void* user) const;

  /// Addresses without memory, for map().
  [[nodiscard]] void* reserve(std::size_t bytes);
  void free_addresses(void* start, std::size_t bytes);
  /// False where it is too short, or something is mapped there. The program may touch memory of the
  /// host.
  [[nodiscard]] bool map(void* start, std::size_t bytes, const PhysicalPointer& physical,
                         std::size_t offset);
  [[nodiscard]] bool unmap(void* start, std::size_t bytes);

  void allocate_pinned(std::size_t bytes, void** user);
  /// Memory of the program's own, which counts as pinned until release_pinned().
  void register_pinned(void* start, std::size_t bytes);
  [[nodiscard]] bool release_pinned(void* user);
  [[nodiscard]] bool is_pinned(const void* user, std::size_t bytes) const;

 private:
  struct Block {
    std::size_t bytes = 0;
    /// Of the address range.
    std::size_t reserved = 0;
    Pages pages;
    int device = -1;
    MemoryKind kind = MemoryKind::Plain;
    PhysicalPointer physical;
  };
  using Blocks = std::map<std::uintptr_t, Block>;

  [[nodiscard]] static Blocks::const_iterator find(const Blocks& blocks, std::uintptr_t at);
  [[nodiscard]] static unsigned char* contents(const Blocks& blocks, const void* user,
                                               std::size_t bytes);

  mutable std::mutex mutex_;
  Blocks device_;
  Blocks pinned_;
  Region addresses_;
};

}  // namespace fake_gpu
