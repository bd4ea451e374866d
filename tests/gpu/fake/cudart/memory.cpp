// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/cudart/memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "tests/gpu/fake/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr int kSlots = 256;
constexpr int kGpus = 64;
constexpr off_t kWholeLedger = 1 << 20;

/// Locks, unlocks or looks at (F_OFD_GETLK) a byte of the ledger; `type` then has what is there.
bool lock_byte(int file, int command, short* type, off_t at) {
  struct flock lock {};
  lock.l_type = *type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  const bool done = ::fcntl(file, command, &lock) == 0;
  *type = lock.l_type;
  return done;
}

constexpr int kJunk = 0xCB;
constexpr std::size_t kPage = 4096;

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

constexpr std::size_t kRegionBytes = std::size_t{64} << 30;

void* map_region(int protection, int flags, int file) {
  void* start = ::mmap(nullptr, kRegionBytes, protection, flags | MAP_NORESERVE, file, 0);
  if (start == MAP_FAILED) die(std::string("no address space: ") + std::strerror(errno));
  ::madvise(start, kRegionBytes, MADV_DONTDUMP);
  return start;
}

int make_file() {
  const int file = ::memfd_create("fake-gpu", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, kRegionBytes) != 0)
    die(std::string("no memory file: ") + std::strerror(errno));
  return file;
}

/// Never destroyed: pages are given back until the process is gone.
struct Contents {
  int file = make_file();
  unsigned char* start =
      static_cast<unsigned char*>(map_region(PROT_READ | PROT_WRITE, MAP_SHARED, file));
  std::mutex mutex;
  Region region{start};
};

Contents& contents() {
  static auto* const kContents = new Contents;
  return *kContents;
}

/// Fresh memory, every byte of which is `content`.
Pages make_pages(std::size_t bytes, int content) {
  const std::size_t whole = round_up(bytes, kPage);
  const std::lock_guard guard(contents().mutex);
  auto* start = reinterpret_cast<unsigned char*>(contents().region.take(whole));
  std::memset(start, content, whole);
  return {start, [whole](unsigned char* pages) {
            ::madvise(pages, whole, MADV_REMOVE);
            const std::lock_guard again(contents().mutex);
            contents().region.give(address(pages), whole);
          }};
}

}  // namespace

SharedContents own_contents() { return {::getpid(), contents().file}; }
unsigned char* contents_start() { return contents().start; }

const unsigned char* map_contents(const SharedContents& other) {
  const std::string path =
      "/proc/" + std::to_string(other.process) + "/fd/" + std::to_string(other.file);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* start = map_region(PROT_READ, MAP_SHARED, file);
  ::close(file);
  return static_cast<const unsigned char*>(start);
}

void unmap_contents(const unsigned char* start) {
  ::munmap(const_cast<unsigned char*>(start), kRegionBytes);
}

Physical::Physical(int file, off_t offset, std::size_t bytes, int device)
    : file_(file), bytes_(bytes), device_(device) {
  void* view =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, offset);
  if (view == MAP_FAILED) die(std::string("no memory: ") + std::strerror(errno));
  view_ = static_cast<unsigned char*>(view);
}

Physical::~Physical() {
  ::munmap(view_, bytes_);
  ::close(file_);
  if (booked_on_ >= 0) ledger().give(booked_on_, bytes_);
}

PhysicalPointer Physical::make(int device, std::size_t bytes) {
  const std::size_t whole = round_up(bytes, kGranule);
  if (device >= 0 && (bytes > gpu(device).memory_bytes ||
                      !ledger().take(gpu(device).place, whole, gpu(device).memory_bytes)))
    return nullptr;
  const int file = ::memfd_create(("fake-gpu " + std::to_string(device)).c_str(), MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(whole)) != 0)
    die(std::string("no memory file: ") + std::strerror(errno));
  PhysicalPointer made(new Physical(file, 0, whole, device));
  if (device >= 0) made->booked_on_ = gpu(device).place;
  return made;
}

PhysicalPointer Physical::import(int file) {
  std::array<char, 64> name{};  // "/memfd:fake-gpu 3 (deleted)"
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const off_t bytes = ::lseek(file, 0, SEEK_END);
  int device = -1;
  if (bytes <= 0 || ::readlink(link.c_str(), name.data(), name.size() - 1) <= 0 ||
      std::sscanf(name.data(), "/memfd:fake-gpu %d", &device) != 1)
    return nullptr;
  return PhysicalPointer(new Physical(file, 0, static_cast<std::size_t>(bytes), device));
}

PhysicalPointer Physical::import(const SharedContents& other, int device, off_t offset,
                                 std::size_t bytes) {
  const std::string path =
      "/proc/" + std::to_string(other.process) + "/fd/" + std::to_string(other.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  return file < 0 ? nullptr : PhysicalPointer(new Physical(file, offset, bytes, device));
}

Region::Region(void* begin)
    : unused_(round_up(address(begin), kGranule)), end_(address(begin) + kRegionBytes) {}

std::uintptr_t Region::take(std::size_t bytes) {
  std::set<std::uintptr_t>& freed = free_[bytes];
  if (!freed.empty()) return freed.extract(freed.begin()).value();
  if (bytes > end_ - unused_) die("a process has no more than 64 GiB of device memory");
  return std::exchange(unused_, unused_ + bytes);
}

struct Ledger::Slot {
  std::array<std::uint64_t, kGpus> bytes;
};

/// The ledger to itself, among threads and among processes.
class Ledger::Locked {
 public:
  explicit Locked(Ledger& ledger) : guard_(ledger.mutex_), file_(ledger.file_) {
    short type = F_WRLCK;
    while (!lock_byte(file_, F_OFD_SETLKW, &type, kWholeLedger)) {
      if (errno != EINTR) die(std::string("ledger: ") + std::strerror(errno));
    }
  }
  ~Locked() {
    short type = F_UNLCK;
    static_cast<void>(lock_byte(file_, F_OFD_SETLK, &type, kWholeLedger));
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::lock_guard<std::mutex> guard_;
  int file_;
};

Ledger::Ledger(const std::string& path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0 || ::ftruncate(file_, sizeof(Slot) * kSlots) != 0)
    die(path + ": " + std::strerror(errno));
  void* mapped =
      ::mmap(nullptr, sizeof(Slot) * kSlots, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) die(path + ": " + std::strerror(errno));
  slots_ = static_cast<Slot*>(mapped);
  const Locked locked(*this);
  for (int slot = 0; slot < kSlots && mine_ < 0; ++slot) {
    short type = F_WRLCK;
    if (lock_byte(file_, F_OFD_SETLK, &type, slot)) mine_ = slot;
  }
  if (mine_ < 0) die(path + ": more than 256 processes on one machine");
  slots_[mine_] = {};
}

bool Ledger::is_alive(int slot) const {
  if (slot == mine_) return true;
  short type = F_WRLCK;
  return lock_byte(file_, F_OFD_GETLK, &type, slot) && type != F_UNLCK;
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

Memory::Blocks::const_iterator Memory::find(const Blocks& blocks, std::uintptr_t at) {
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin()) return blocks.end();
  --after;
  return at - after->first <= after->second.reserved ? after : blocks.end();
}

unsigned char* Memory::contents(const Blocks& blocks, const void* user, std::size_t bytes) {
  const auto at = find(blocks, address(user));
  if (at == blocks.end()) return nullptr;
  const std::size_t offset = address(user) - at->first;
  const Block& block = at->second;
  if (offset > block.bytes || bytes > block.bytes - offset) return nullptr;
  return block.pages.get() + offset;
}

Memory::Memory() : addresses_(map_region(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1)) {}

bool Memory::allocate(int device, std::size_t bytes, void** user, MemoryKind kind) {
  const Gpu& owner = gpu(device);
  if (bytes > owner.memory_bytes) return false;
  const std::size_t reserved = round_up(bytes, kGranule);
  if (!ledger().take(owner.place, reserved, owner.memory_bytes)) return false;
  Pages pages = make_pages(bytes, kJunk);
  const std::lock_guard guard(mutex_);
  const std::uintptr_t start = addresses_.take(reserved);
  device_[start] = {bytes, reserved, std::move(pages), device, kind, nullptr};
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
    addresses_.give(address(user), block.reserved);
  }
  ledger().give(gpu(block.device).place, block.reserved);
  return true;
}

std::optional<Allocation> Memory::allocation(const void* user) const {
  const std::lock_guard guard(mutex_);
  for (const Blocks* blocks : {&device_, &pinned_}) {
    const auto at = find(*blocks, address(user));
    if (at == blocks->end() || (blocks == &pinned_ && at->second.physical == nullptr)) continue;
    const auto& [start, block] = *at;
    const std::size_t bytes = block.kind == MemoryKind::Virtual ? block.reserved : block.bytes;
    if (address(user) - start >= bytes) continue;
    return Allocation{start, bytes, block.kind, block.pages, block.device, block.physical};
  }
  return std::nullopt;
}

void* Memory::reserve(std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  return reinterpret_cast<void*>(addresses_.take(round_up(bytes, kGranule)));
}

void Memory::free_addresses(void* start, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  addresses_.give(address(start), round_up(bytes, kGranule));
}

bool Memory::map(void* start, std::size_t bytes, const PhysicalPointer& physical,
                 std::size_t offset) {
  if (offset + bytes > physical->bytes()) return false;
  const std::lock_guard guard(mutex_);
  const bool host = physical->device() < 0;
  if (host && ::mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->file(),
                     static_cast<off_t>(offset)) == MAP_FAILED)
    return false;
  const Pages pages(physical, physical->view() + offset);
  const Block block{bytes, bytes, pages, physical->device(), MemoryKind::Virtual, physical};
  return (host ? pinned_ : device_).insert({address(start), block}).second;
}

bool Memory::unmap(void* start, std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  if (pinned_.erase(address(start)) == 0) return device_.erase(address(start)) == 1;
  return ::mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                -1, 0) != MAP_FAILED;
}

int Memory::device_of(const void* user) const {
  const std::lock_guard guard(mutex_);
  const auto at = find(device_, address(user));
  const bool inside = at != device_.end() && address(user) - at->first <= at->second.bytes;
  return inside ? at->second.device : -1;
}

bool Memory::is_start(const void* user) const {
  const std::lock_guard guard(mutex_);
  return device_.count(address(user)) != 0;
}

unsigned char* Memory::contents(const void* user, std::size_t bytes) const {
  const std::lock_guard guard(mutex_);
  return contents(device_, user, bytes);
}

void Memory::allocate_pinned(std::size_t bytes, void** user) {
  const Pages pages = make_pages(bytes, 0);
  const std::lock_guard guard(mutex_);
  pinned_[address(pages.get())] = {bytes, bytes, pages, -1, MemoryKind::Plain, nullptr};
  *user = pages.get();
}

void Memory::register_pinned(void* start, std::size_t bytes) {
  const Pages own(Pages(), static_cast<unsigned char*>(start));
  const std::lock_guard guard(mutex_);
  pinned_[address(start)] = {bytes, bytes, own, -1, MemoryKind::Plain, nullptr};
}

bool Memory::release_pinned(void* user) {
  const std::lock_guard guard(mutex_);
  return pinned_.erase(address(user)) == 1;
}

bool Memory::is_pinned(const void* user, std::size_t bytes) const {
  const std::lock_guard guard(mutex_);
  return contents(pinned_, user, bytes) != nullptr;
}

}  // namespace fake_gpu
