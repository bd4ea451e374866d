// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/nccl/segment.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

#include "tests/fake_gpu/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr std::size_t kAllPayloads = 16 << 20;
constexpr std::size_t kLeastPiece = 4 << 10;
constexpr std::size_t kMostPiece = 128 << 10;
constexpr const char* kFolder = "/dev/shm/";

std::size_t choose_piece(std::size_t ranks) {
  std::size_t piece = kMostPiece;
  while (piece > kLeastPiece && piece * ranks * ranks * Channel::kSlots > kAllPayloads) piece /= 2;
  return piece;
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr,
            0);
}

}  // namespace

struct alignas(64) Segment::Header {
  std::atomic<std::int32_t> ranks;
  std::atomic<std::int32_t> attached;
};

Segment::Segment(const std::string& name, int ranks) : name_(kFolder + name), ranks_(ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  piece_capacity_ = choose_piece(count);
  const std::size_t fixed =
      sizeof(Header) + count * sizeof(RankCell) + count * count * sizeof(Channel);
  bytes_ = fixed + count * count * Channel::kSlots * piece_capacity_;
  const int file = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) die(name_ + ": " + std::strerror(errno));
  // Those who disagree on the number of ranks must be able to read that.
  const off_t known = ::lseek(file, 0, SEEK_END);
  if (known < static_cast<off_t>(bytes_) && ::ftruncate(file, static_cast<off_t>(bytes_)) != 0)
    die(name_ + ": " + std::strerror(errno));
  void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) die(name_ + ": " + std::strerror(errno));
  ::close(file);
  auto* at = static_cast<unsigned char*>(mapped);
  header_ = reinterpret_cast<Header*>(at);
  cells_ = reinterpret_cast<RankCell*>(at + sizeof(Header));
  channels_ = reinterpret_cast<Channel*>(at + sizeof(Header) + count * sizeof(RankCell));
  payloads_ = at + fixed;
  std::int32_t none = 0;
  header_->ranks.compare_exchange_strong(none, ranks);
}

Segment::~Segment() { ::munmap(header_, bytes_); }
bool Segment::agrees() const { return header_->ranks.load() == ranks_; }

bool Segment::attach(int rank) {
  if (cell(rank).present.exchange(1) != 0) return false;
  header_->attached.fetch_add(1);
  ring_all();
  return true;
}

bool Segment::is_complete() const { return header_->attached.load() >= ranks_; }
void Segment::remove_name() { ::unlink(name_.c_str()); }
RankCell& Segment::cell(int rank) const { return cells_[rank]; }

std::size_t Segment::index(int from, int to) const {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
         static_cast<std::size_t>(to);
}

Channel& Segment::channel(int from, int to) const { return channels_[index(from, to)]; }

unsigned char* Segment::payload(int from, int to, std::uint32_t slot) const {
  return payloads_ + (index(from, to) * Channel::kSlots + slot) * piece_capacity_;
}

void Segment::ring(int rank) const {
  RankCell& whom = cell(rank);
  whom.bell.fetch_add(1);
  if (whom.sleeping.load() != 0) futex(whom.bell, FUTEX_WAKE, 64, nullptr);
}

void Segment::ring_all() const {
  for (int rank = 0; rank < ranks_; ++rank) ring(rank);
}

void Segment::sleep(int rank, std::uint32_t seen) const {
  constexpr timespec kLimit{.tv_sec = 0, .tv_nsec = 50'000'000};
  RankCell& mine = cell(rank);
  mine.sleeping.fetch_add(1);
  if (mine.bell.load() == seen) futex(mine.bell, FUTEX_WAIT, seen, &kLimit);
  mine.sleeping.fetch_sub(1);
}

std::string segment_prefix() { return "busbar-fake-nccl-" + std::to_string(::getuid()) + "-"; }

void sweep_segments() {
  std::error_code ignored;
  const std::string prefix = segment_prefix();
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.rfind(prefix, 0) != 0) continue;
    const auto maker = static_cast<pid_t>(std::atol(name.c_str() + prefix.size()));
    if (maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH)
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace fake_gpu
