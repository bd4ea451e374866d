// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// What one size of a collective means for every rank.
struct Footprint {
  Bytes size = 0;           ///< nccl-tests' "size": the larger of what a rank sends and receives
  Bytes send = 0;           ///< bytes of a rank's send buffer
  Bytes recv = 0;           ///< bytes of a rank's receive buffer
  std::uint64_t count = 0;  ///< elements handed to the library, and nccl-tests' "count"
};

/// Where, in elements from the start of the one in-place buffer, a rank sends from and receives to.
struct InPlace {
  std::uint64_t send_offset = 0;
  std::uint64_t recv_offset = 0;
};

inline constexpr int kAllRanks = -1;

/// A run of elements of a correct result. Element `first + i` of the receive buffer is element
/// `source_first + i` of what `source` sends, or of the reduction over all ranks (kAllRanks).
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  int source = kAllRanks;
  std::uint64_t source_first = 0;
};

/// Two ranks of which the first sends to the second, and no other rank does anything.
struct Pair {
  int sender = 0;
  int receiver = 0;
};

/// The ranks as a collective sees them: who asks, of how many, and the root or the pair where there
/// is one.
struct Position {
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::optional<Pair> pair{};  ///< only for collectives that have peers
};

/// Where a rank sends to and what it receives from; -1: nobody.
struct Peers {
  int to = -1;
  int from = -1;
};

/// What all ranks together must at least do in memory for one operation that they share it for, in
/// sizes (Footprint::size), whatever the algorithm and whoever of them does it.
struct LeastWork {
  double copied = 0;   ///< bytes that arrive where they were not
  double reduced = 0;  ///< bytes of one vector added to another
  double touched = 0;  ///< bytes of all ranks' buffers that take part
};

/// A collective operation as data and pure functions: the whole truth about it, without a backend.
struct Collective {
  std::string_view name;       ///< "allreduce": our executable's name without _perf
  std::string_view nccl_name;  ///< "all_reduce": nccl-tests' executable's name without _perf
  std::string_view title;      ///< "all-reduce"
  bool reduces = false;        ///< takes a reduction operation
  bool rooted = false;         ///< takes a root
  /// Element i of every result depends on elements i only: it may be issued in segments.
  bool elementwise = false;

  /// Rounds the wanted size down to what the collective can do with `ranks` ranks.
  Footprint (*footprint)(Bytes wanted, Bytes element, int ranks) = nullptr;
  /// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md); 0 for one rank where
  /// nothing crosses a bus.
  double (*bus_factor)(int ranks) = nullptr;
  InPlace (*in_place)(std::uint64_t count, int rank) = nullptr;
  /// The pieces of a correct receive buffer; empty on a rank that receives nothing.
  std::vector<Piece> (*expected)(std::uint64_t count, Position position) = nullptr;
  /// The ranks that this one exchanges data with; null where all take part in one operation.
  Peers (*peers)(Position position) = nullptr;
  /// Null where nobody has reckoned it; then host memory has no bound for it.
  LeastWork (*least_work)(int ranks, bool in_place) = nullptr;
};

/// Adds a collective to the list of this executable: one static object in each collective's file.
/// Link the objects themselves: an archive would drop them silently.
class RegisteredCollective {
 public:
  explicit RegisteredCollective(const Collective& collective);
};

/// Every collective linked into this program, by name.
[[nodiscard]] std::vector<const Collective*> registered_collectives();

/// @name Parts that several collectives are made of
/// @{
/// Whole elements; send and receive the same: all-reduce, broadcast, reduce, send-receive.
[[nodiscard]] Footprint same_everywhere(Bytes wanted, Bytes element, int ranks);
/// Each rank sends a part of count elements, one rank or all receive all parts: gathers.
[[nodiscard]] Footprint parts_to_whole(Bytes wanted, Bytes element, int ranks);
/// A rank sends all parts and each rank receives one: scatters.
[[nodiscard]] Footprint whole_to_parts(Bytes wanted, Bytes element, int ranks);
/// Elements per rank, a multiple of 16 bytes as nccl-tests rounds them.
[[nodiscard]] std::uint64_t count_per_rank(Bytes wanted, Bytes element, int ranks);
/// Send and receive buffers are one: no offsets.
[[nodiscard]] InPlace same_place(std::uint64_t count, int rank);
/// A rank sends from its own part of the receive buffer.
[[nodiscard]] InPlace send_own_part(std::uint64_t count, int rank);
/// A rank receives into its own part of the send buffer.
[[nodiscard]] InPlace receive_own_part(std::uint64_t count, int rank);
/// The parts of all ranks in their order, `source_first` into what each of them sends.
[[nodiscard]] std::vector<Piece> one_part_per_rank(std::uint64_t count, int ranks,
                                                   std::uint64_t source_first);
/// (n - 1) / n: each rank keeps its own part.
[[nodiscard]] double all_but_own_part(int ranks);
/// 1: what a rank has crosses its bus once.
[[nodiscard]] double once(int ranks);
/// n ranks end with the whole, which is the sum of their parts or one rank's: out of place all copy
/// all of it, in place one size of it is where it belongs.
[[nodiscard]] LeastWork whole_at_all(int ranks, bool in_place);
/// One rank has the whole, in parts that others have the other end of.
[[nodiscard]] LeastWork parts_at_one(int ranks, bool in_place);
/// n wholes become one: n - 1 additions, whose last writes the result where it belongs.
[[nodiscard]] LeastWork one_of_all(int ranks, bool in_place);
/// @}

}  // namespace busbar
