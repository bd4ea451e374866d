// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fake_gpu {

/// What one rank sends to the others; the meaning of the numbers is the sender's.
using Note = std::array<std::uint64_t, 4>;

/// Meetings in one line are in the same order at all ranks; those of two lines are not.
enum class Line { Calls, Work };

/// The last message from one rank to one other: it is there while `posted` is ahead of `taken`.
struct alignas(64) Mailbox {
  std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> taken;
  Note note;
};

/// The memory that the ranks of one communicator share, seen by one of them; it begins as zeros.
class Segment {
 public:
  /// Maps the segment of this name, which it creates where it is the first.
  Segment(const std::string& name, int rank, int ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Does everybody name the same number of ranks?
  [[nodiscard]] bool agrees() const;
  /// False where somebody was this rank already.
  [[nodiscard]] bool attach() const;
  /// When all are there the name goes, so that nothing is left behind whoever is killed.
  [[nodiscard]] bool is_complete() const;
  void remove_name() const;

  /// Waits until all ranks are in their next meeting of this line, and reads their notes; false
  /// where aborted.
  [[nodiscard]] bool meet(Line line, const Note& mine, const std::atomic<int>& aborted,
                          std::vector<Note>* notes) const;
  [[nodiscard]] Mailbox& mailbox(int from, int to) const;

  /// Wakes a rank for which there may be something to do.
  void ring(int rank) const;
  void ring_all() const;

  /// Waits until something is true, for whose change this rank is rung; false where aborted.
  template <class Ready>
  [[nodiscard]] bool wait(const std::atomic<int>& aborted, const Ready& ready) const {
    while (!ready()) {
      if (aborted.load() != 0) return false;
      const std::uint32_t seen = bell().load();
      if (!ready()) sleep(seen);
    }
    return true;
  }

 private:
  struct Header;
  struct Cell;

  [[nodiscard]] std::atomic<std::uint32_t>& bell() const;
  /// Sleeps until the bell has another value than `seen`, or for some ms.
  void sleep(std::uint32_t seen) const;

  std::string name_;
  int rank_;
  int ranks_;
  std::size_t bytes_ = 0;
  Header* header_ = nullptr;
  Cell* cells_ = nullptr;
  Mailbox* mailboxes_ = nullptr;
};

/// Removes segments whose maker died before all had attached.
void sweep_segments();
[[nodiscard]] std::string segment_prefix();

}  // namespace fake_gpu
