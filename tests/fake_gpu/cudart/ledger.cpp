// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/ledger.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr int kSlots = 256;
constexpr int kGpus = 64;
constexpr off_t kWholeLedger = 1 << 20;

struct flock byte_lock(short type, off_t at) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

}  // namespace

struct Ledger::Slot {
  std::array<std::uint64_t, kGpus> bytes;
};

/// The ledger to itself, among threads and among processes.
class Ledger::Locked {
 public:
  explicit Locked(Ledger& ledger) : guard_(ledger.mutex_), file_(ledger.file_) {
    struct flock lock = byte_lock(F_WRLCK, kWholeLedger);
    while (::fcntl(file_, F_OFD_SETLKW, &lock) != 0) {
      if (errno != EINTR) die(std::string("ledger: ") + std::strerror(errno));
    }
  }
  ~Locked() {
    struct flock lock = byte_lock(F_UNLCK, kWholeLedger);
    static_cast<void>(::fcntl(file_, F_OFD_SETLK, &lock));
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::lock_guard<std::mutex> guard_;
  int file_;
};

Ledger::Ledger(const std::string& path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0 || ::ftruncate(file_, sizeof(Slot) * kSlots) != 0) {
    die(path + ": " + std::strerror(errno));
  }
  void* mapped =
      ::mmap(nullptr, sizeof(Slot) * kSlots, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) die(path + ": " + std::strerror(errno));
  slots_ = static_cast<Slot*>(mapped);
  const Locked locked(*this);
  for (int slot = 0; slot < kSlots && mine_ < 0; ++slot) {
    struct flock lock = byte_lock(F_WRLCK, slot);
    if (::fcntl(file_, F_OFD_SETLK, &lock) == 0) mine_ = slot;
  }
  if (mine_ < 0) die(path + ": more than 256 processes on one machine");
  slots_[mine_] = {};
}

bool Ledger::is_alive(int slot) const {
  if (slot == mine_) return true;
  struct flock lock = byte_lock(F_WRLCK, slot);
  return ::fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::uint64_t Ledger::sum(int gpu) {
  std::uint64_t total = 0;
  for (int slot = 0; slot < kSlots; ++slot) {
    std::uint64_t& bytes = slots_[slot].bytes.at(static_cast<std::size_t>(gpu));
    if (bytes != 0 && !is_alive(slot)) slots_[slot] = {};
    total += bytes;
  }
  return total;
}

bool Ledger::take(int gpu, std::uint64_t bytes, std::uint64_t capacity) {
  const Locked locked(*this);
  if (bytes > capacity || sum(gpu) > capacity - bytes) return false;
  slots_[mine_].bytes.at(static_cast<std::size_t>(gpu)) += bytes;
  return true;
}

void Ledger::give(int gpu, std::uint64_t bytes) {
  const Locked locked(*this);
  slots_[mine_].bytes.at(static_cast<std::size_t>(gpu)) -= bytes;
}

std::uint64_t Ledger::taken(int gpu) {
  const Locked locked(*this);
  return sum(gpu);
}

Ledger& ledger() {
  static Ledger* const kLedger = [] {
    const char* folder = ::getenv("TMPDIR");
    return new Ledger(std::string(folder == nullptr ? "/dev/shm" : folder) + "/busbar-fake-gpu-" +
                      std::to_string(::getuid()) + "-" +
                      std::to_string(hash_text(machine().identity)));
  }();
  return *kLedger;
}

}  // namespace fake_gpu
