// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake_gpu {

/// What a rank tells the others; all of the segment begins as zeros.
struct alignas(64) RankCell {
  std::atomic<std::uint32_t> present;
  /// Rung when there may be something to do for this rank.
  std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleeping;
  std::uint64_t host_hash;
  std::uint64_t bus_id;
  std::int32_t compute_capability;
  /// ncclCommSplit: how many splits this rank announced, and how many it has read.
  std::atomic<std::uint32_t> splits_announced;
  std::atomic<std::uint32_t> splits_read;
  std::int32_t color;
  std::int32_t key;
  /// ncclCommWindowRegister: the same, and how large the window is.
  std::atomic<std::uint32_t> windows_announced;
  std::atomic<std::uint32_t> windows_read;
  std::uint64_t window_bytes;
};

/// A piece of a message on its way.
struct Piece {
  std::uint64_t message_bytes;
  std::uint64_t piece_bytes;
  std::uint64_t tag;
};

/// A queue of pieces from one rank to one other.
struct alignas(64) Channel {
  static constexpr std::uint32_t kSlots = 2;
  std::atomic<std::uint32_t> written;
  alignas(64) std::atomic<std::uint32_t> read;
  std::array<Piece, kSlots> pieces;
};

/// The memory that the ranks of one communicator share.
class Segment {
 public:
  /// Maps the segment of this name, which it creates where it is the first.
  Segment(const std::string& name, int ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Does everybody name the same number of ranks?
  [[nodiscard]] bool agrees() const;
  /// False where somebody was this rank already.
  [[nodiscard]] bool attach(int rank);
  /// When all are there the name goes, so that nothing is left behind whoever is killed.
  [[nodiscard]] bool is_complete() const;
  void remove_name();

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] RankCell& cell(int rank) const;
  [[nodiscard]] Channel& channel(int from, int to) const;
  [[nodiscard]] unsigned char* payload(int from, int to, std::uint32_t slot) const;
  [[nodiscard]] std::size_t piece_capacity() const { return piece_capacity_; }

  void ring(int rank) const;
  void ring_all() const;
  /// Sleeps until the bell has another value than `seen`, or for some ms.
  void sleep(int rank, std::uint32_t seen) const;

 private:
  struct Header;

  [[nodiscard]] std::size_t index(int from, int to) const;

  std::string name_;
  int ranks_;
  std::size_t piece_capacity_ = 0;
  std::size_t bytes_ = 0;
  Header* header_ = nullptr;
  RankCell* cells_ = nullptr;
  Channel* channels_ = nullptr;
  unsigned char* payloads_ = nullptr;
};

/// Removes segments whose maker died before all had attached.
void sweep_segments();
[[nodiscard]] std::string segment_prefix();

}  // namespace fake_gpu
