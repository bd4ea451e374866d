// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/registration.hpp"

#include <algorithm>

#include "tests/gpu/fake/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

constexpr std::uintptr_t kPage = 4096;

struct Range {
  Range(const void* start, std::size_t bytes)
      : begin(reinterpret_cast<std::uintptr_t>(start) / kPage * kPage),
        end((reinterpret_cast<std::uintptr_t>(start) + bytes + kPage - 1) / kPage * kPage) {}
  std::uintptr_t begin;
  std::uintptr_t end;
};

}  // namespace

std::vector<std::unique_ptr<RegistrationCache::Slot>>::iterator RegistrationCache::find(
    void* handle) {
  return std::find_if(slots_.begin(), slots_.end(),
                      [handle](const auto& slot) { return slot.get() == handle; });
}

void* RegistrationCache::add(const void* start, std::size_t bytes, By by) {
  const Range range(start, bytes);
  const std::lock_guard guard(mutex_);
  auto slot = std::find_if(slots_.begin(), slots_.end(), [&range](const auto& known) {
    return known->begin <= range.begin && known->end >= range.end;
  });
  if (slot == slots_.end()) {
    slot =
        slots_.insert(slot, std::make_unique<Slot>(Slot{.begin = range.begin, .end = range.end}));
  }
  ++(by == By::User ? (*slot)->users : (*slot)->graphs);
  return slot->get();
}

bool RegistrationCache::remove(void* handle, By by) {
  const std::lock_guard guard(mutex_);
  const auto found = find(handle);
  if (found == slots_.end()) return false;
  --(by == By::User ? (*found)->users : (*found)->graphs);
  if ((*found)->users <= 0 && (*found)->graphs <= 0) slots_.erase(found);
  return true;
}

Pages RegistrationCache::resolve(Slot& slot, const void* start, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(start);
  if (slot.pages == nullptr) {
    const auto allocation = memory().allocation(start);
    if (!allocation) return nullptr;
    slot.pages = allocation->pages;
    slot.pages_start = allocation->start;
    slot.pages_bytes = allocation->bytes;
  }
  if (at < slot.pages_start || at + bytes > slot.pages_start + slot.pages_bytes) return nullptr;
  return {slot.pages, slot.pages.get() + (at - slot.pages_start)};
}

Pages RegistrationCache::find_by_user(const void* start, std::size_t bytes) {
  const Range range(start, bytes);
  const std::lock_guard guard(mutex_);
  for (const auto& slot : slots_) {
    if (slot->users > 0 && slot->begin <= range.begin && slot->end >= range.end)
      return resolve(*slot, start, bytes);
  }
  return nullptr;
}

Pages RegistrationCache::pages_of(void* handle, const void* start, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto found = find(handle);
  return found == slots_.end() ? nullptr : resolve(**found, start, bytes);
}

}  // namespace fake_gpu
