// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake/nccl/segment.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/fake/cudart/machine.hpp"

namespace fake_gpu {
namespace {

constexpr const char* kFolder = "/dev/shm/";

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

/// What a rank writes and all read.
struct alignas(64) Segment::Cell {
  std::atomic<std::uint32_t> present;
  std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleeping;
  struct Meetings {
    std::atomic<std::uint32_t> last;
    /// Of the last two: some may have yet to read the last but one.
    std::array<Note, 2> notes;
  };
  std::array<Meetings, 2> lines;
};

Segment::Segment(const std::string& name, int rank, int ranks)
    : name_(kFolder + name), rank_(rank), ranks_(ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const std::size_t cells = sizeof(Header) + count * sizeof(Cell);
  bytes_ = cells + count * count * sizeof(Mailbox);
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
  cells_ = reinterpret_cast<Cell*>(at + sizeof(Header));
  mailboxes_ = reinterpret_cast<Mailbox*>(at + cells);
  std::int32_t none = 0;
  header_->ranks.compare_exchange_strong(none, ranks);
}

Segment::~Segment() { ::munmap(header_, bytes_); }
bool Segment::agrees() const { return header_->ranks.load() == ranks_; }

bool Segment::attach() const {
  if (cells_[rank_].present.exchange(1) != 0) return false;
  header_->attached.fetch_add(1);
  ring_all();
  return true;
}

bool Segment::is_complete() const { return header_->attached.load() >= ranks_; }
void Segment::remove_name() const { ::unlink(name_.c_str()); }
std::atomic<std::uint32_t>& Segment::bell() const { return cells_[rank_].bell; }
Mailbox& Segment::mailbox(int from, int to) const { return mailboxes_[from * ranks_ + to]; }

bool Segment::meet(Line line, const Note& mine, const std::atomic<int>& aborted,
                   std::vector<Note>* notes) const {
  const auto meetings = [&](int rank) -> Cell::Meetings& {
    return cells_[rank].lines.at(static_cast<std::size_t>(line));
  };
  const std::uint32_t number = meetings(rank_).last.load() + 1;
  meetings(rank_).notes.at(number % 2) = mine;
  meetings(rank_).last.store(number);
  ring_all();
  notes->clear();
  for (int other = 0; other < ranks_; ++other) {
    if (!wait(aborted, [&] { return meetings(other).last.load() >= number; })) return false;
    notes->push_back(meetings(other).notes.at(number % 2));
  }
  return true;
}

void Segment::ring(int rank) const {
  Cell& whom = cells_[rank];
  whom.bell.fetch_add(1);
  if (whom.sleeping.load() != 0) futex(whom.bell, FUTEX_WAKE, 64, nullptr);
}

void Segment::ring_all() const {
  for (int rank = 0; rank < ranks_; ++rank) ring(rank);
}

void Segment::sleep(std::uint32_t seen) const {
  constexpr timespec kLimit{.tv_sec = 0, .tv_nsec = 50'000'000};
  Cell& mine = cells_[rank_];
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
