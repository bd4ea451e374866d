// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/memory.hpp"

#include <cstring>
#include <sys/mman.h>

#include "tests/fake_gpu/cudart/ledger.hpp"
#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr int kJunk = 0xCB;
constexpr std::size_t kPage = 4096;

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void* map_pages(std::size_t bytes, int protection) {
  void* pages =
      ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

const Gpu& gpu(int device) { return machine().gpus.at(static_cast<std::size_t>(device)); }

}  // namespace

const Memory::Block* Memory::find(const Blocks& blocks, std::uintptr_t at) {
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin()) return nullptr;
  --after;
  return at - after->first <= after->second.bytes ? &after->second : nullptr;
}

bool Memory::allocate(int device, std::size_t bytes, void** user) {
  if (bytes > gpu(device).memory_bytes) return false;
  const std::size_t pages_bytes = whole_pages(bytes);
  if (!ledger().take(gpu(device).place, pages_bytes, gpu(device).memory_bytes)) return false;
  void* contents = map_pages(pages_bytes, PROT_READ | PROT_WRITE);
  void* alias = map_pages(pages_bytes, PROT_NONE);
  if (contents == nullptr || alias == nullptr) die("the host has no memory left");
  std::memset(contents, kJunk, pages_bytes);
  const std::lock_guard guard(mutex_);
  device_[address(alias)] = {bytes, pages_bytes, static_cast<unsigned char*>(contents), device};
  *user = alias;
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
  }
  ::munmap(user, block.pages_bytes);
  ::munmap(block.contents, block.pages_bytes);
  ledger().give(gpu(block.device).place, block.pages_bytes);
  return true;
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
  return block.contents + offset;
}

bool Memory::allocate_pinned(std::size_t bytes, void** user) {
  void* pages = map_pages(whole_pages(bytes), PROT_READ | PROT_WRITE);
  if (pages == nullptr) return false;
  const std::lock_guard guard(mutex_);
  pinned_[address(pages)] = {bytes, whole_pages(bytes), static_cast<unsigned char*>(pages), -1};
  *user = pages;
  return true;
}

bool Memory::release_pinned(void* user) {
  const std::lock_guard guard(mutex_);
  const auto found = pinned_.find(address(user));
  if (found == pinned_.end()) return false;
  ::munmap(user, found->second.pages_bytes);
  pinned_.erase(found);
  return true;
}

bool Memory::is_pinned(const void* user, std::size_t bytes) const {
  const std::lock_guard guard(mutex_);
  const Block* block = find(pinned_, address(user));
  return block != nullptr && address(user) - address(block->contents) + bytes <= block->bytes;
}

}  // namespace fake_gpu
