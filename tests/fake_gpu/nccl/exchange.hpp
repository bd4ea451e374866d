// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/fake_gpu/nccl/reduction.hpp"
#include "tests/fake_gpu/nccl/segment.hpp"

namespace fake_gpu {

/// All that one group of calls moves at one rank, progressing together: messages on the channels of
/// a segment, each channel in the order of the calls.
class Exchange {
 public:
  enum class Outcome { Done, Aborted, Mismatch };

  Exchange(const Segment& segment, int rank);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return segment_.ranks(); }

  /// Sends bytes, as far as `*available` says that they are there (null: all).
  void send(int peer, const unsigned char* data, std::size_t bytes, std::uint64_t tag,
            const std::size_t* available = nullptr);
  void receive(int peer, unsigned char* data, std::size_t bytes, std::uint64_t tag);
  /// Reduces what every other rank sends with one's own; tells how many bytes are ready.
  const std::size_t* reduce(const unsigned char* own, unsigned char* out, std::size_t bytes,
                            const Reduction& how, std::uint64_t tag);
  /// A copy that lives as long as this exchange.
  const unsigned char* keep(const unsigned char* data, std::size_t bytes);

  /// Moves everything; sleeps while there is nothing to do.
  [[nodiscard]] Outcome run(const std::atomic<int>& aborted);
  /// What did not fit, after Mismatch.
  [[nodiscard]] const std::string& mismatch() const { return mismatch_; }

 private:
  struct Reducing {
    const unsigned char* own;
    unsigned char* out;
    std::size_t bytes;
    Reduction how;
    std::uint64_t tag;
    std::size_t ready = 0;
    bool begun = false;
  };
  struct Outgoing {
    const unsigned char* data;
    std::size_t bytes;
    std::uint64_t tag;
    const std::size_t* available;
    std::size_t sent = 0;
  };
  struct Incoming {
    unsigned char* data;
    std::size_t bytes;
    std::uint64_t tag;
    Reducing* reducing;
    std::size_t got = 0;
  };

  [[nodiscard]] bool push(int peer);
  [[nodiscard]] bool pull(int peer);
  [[nodiscard]] bool step(Reducing& reducing);
  [[nodiscard]] bool can_step(const Reducing& reducing);
  /// The next piece from a peer; null where there is none, or it is not what was expected.
  [[nodiscard]] const Piece* peek(int peer, std::size_t bytes, std::uint64_t tag);
  void consume(int peer);
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool progress();

  const Segment& segment_;
  int rank_;
  std::vector<std::deque<Outgoing>> out_;
  std::vector<std::deque<Incoming>> in_;
  std::deque<Reducing> reducing_;
  std::deque<std::vector<unsigned char>> kept_;
  std::string mismatch_;
};

}  // namespace fake_gpu
