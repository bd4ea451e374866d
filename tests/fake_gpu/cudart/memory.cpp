// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/memory.hpp"

#include <cstring>
#include <sys/mman.h>
#include <utility>

#include "tests/fake_gpu/cudart/ledger.hpp"
#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr int kJunk = 0xCB;
constexpr std::size_t kPage = 4096;

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void* map_pages(std::size_t bytes, int protection) {
  void* pages =
      ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) die("the host has no memory left");
  return pages;
}

Pages make_pages(std::size_t bytes) {
  auto* start = static_cast<unsigned char*>(map_pages(bytes, PROT_READ | PROT_WRITE));
  return {start, [bytes](unsigned char* pages) { ::munmap(pages, bytes); }};
}

const Gpu& gpu(int device) { return machine().gpus.at(static_cast<std::size_t>(device)); }

}  // namespace

const Memory::Block* Memory::find(const Blocks& blocks, std::uintptr_t at) {
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin()) return nullptr;
  --after;
  return at - after->first <= after->second.bytes ? &after->second : nullptr;
}

std::uintptr_t Memory::reserve(std::size_t bytes) {
  constexpr std::size_t kAtOnce = std::size_t{64} << 30;
  std::set<std::uintptr_t>& ranges = free_ranges_[bytes];
  if (!ranges.empty()) return ranges.extract(ranges.begin()).value();
  if (bytes > unused_bytes_) {
    unused_ = round_up(address(map_pages(kAtOnce + kGranule, PROT_NONE)), kGranule);
    unused_bytes_ = kAtOnce;
  }
  unused_bytes_ -= bytes;
  return std::exchange(unused_, unused_ + bytes);
}

bool Memory::allocate(int device, std::size_t bytes, void** user, MemoryKind kind) {
  const Gpu& owner = gpu(device);
  if (bytes > owner.memory_bytes) return false;
  const std::size_t reserved = round_up(bytes, kGranule);
  if (!ledger().take(owner.place, reserved, owner.memory_bytes)) return false;
  const std::size_t used = round_up(bytes, kPage);
  Pages pages = make_pages(used);
  std::memset(pages.get(), kJunk, used);
  const std::lock_guard guard(mutex_);
  const std::uintptr_t start = reserve(reserved);
  device_[start] = {bytes, reserved, std::move(pages), device, kind};
  *user = reinterpret_cast<void*>(start);
  return true;
}

bool Memory::release(void* user) {
  Block block;
  {
    const std::lock_guard guard(mutex_);
    const auto found = device_.find(address(user));
    if (found == device_.end()) return false;
    block = found->second;
    device_.erase(found);
    free_ranges_[block.reserved].insert(address(user));
  }
  ledger().give(gpu(block.device).place, block.reserved);
  return true;
}

std::optional<Allocation> Memory::allocation(const void* user) const {
  const std::lock_guard guard(mutex_);
  auto after = device_.upper_bound(address(user));
  if (after == device_.begin()) return std::nullopt;
  const auto& [start, block] = *--after;
  const std::size_t bytes = block.kind == MemoryKind::Virtual ? block.reserved : block.bytes;
  if (address(user) - start >= bytes) return std::nullopt;
  return Allocation{start, bytes, block.kind, block.pages};
}

int Memory::device_of(const void* user) const {
  const std::lock_guard guard(mutex_);
  const Block* block = find(device_, address(user));
  return block == nullptr ? -1 : block->device;
}

bool Memory::is_start(const void* user) const {
  const std::lock_guard guard(mutex_);
  return device_.count(address(user)) != 0;
}

unsigned char* Memory::contents(const void* user, std::size_t bytes) const {
  const std::lock_guard guard(mutex_);
  auto after = device_.upper_bound(address(user));
  if (after == device_.begin()) return nullptr;
  --after;
  const std::size_t offset = address(user) - after->first;
  const Block& block = after->second;
  if (offset > block.bytes || bytes > block.bytes - offset) return nullptr;
  return block.pages.get() + offset;
}

bool Memory::allocate_pinned(std::size_t bytes, void** user) {
  const Pages pages = make_pages(round_up(bytes, kPage));
  const std::lock_guard guard(mutex_);
  pinned_[address(pages.get())] = {.bytes = bytes, .pages = pages};
  *user = pages.get();
  return true;
}

bool Memory::release_pinned(void* user) {
  const std::lock_guard guard(mutex_);
  return pinned_.erase(address(user)) == 1;
}

bool Memory::is_pinned(const void* user, std::size_t bytes) const {
  const std::lock_guard guard(mutex_);
  const Block* block = find(pinned_, address(user));
  return block != nullptr && address(user) - address(block->pages.get()) + bytes <= block->bytes;
}

}  // namespace fake_gpu
