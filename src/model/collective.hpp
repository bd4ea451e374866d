// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "base/units.hpp"
#include "model/distribution.hpp"

namespace busbar {

/// What is asked of a collective.
struct Amount {
  Bytes wanted = 0;  ///< size
  Bytes element = 1;
  int ranks = 1;
  const Distribution* distribution = nullptr;  ///< only where parts are not equal
};

/// What one size of a collective means for every rank; the most of any where parts are not equal.
struct Footprint {
  Bytes size = 0;           ///< nccl-tests' "size": the larger of what a rank sends and receives
  Bytes send = 0;           ///< bytes of a rank's send buffer
  Bytes recv = 0;           ///< bytes of a rank's receive buffer
  std::uint64_t count = 0;  ///< elements handed to the library, and nccl-tests' "count"
  /// Of a collective whose parts are not equal: they add up to less than count times ranks.
  std::shared_ptr<const Traffic> traffic{};
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

/// One rank's view of a collective.
struct Position {
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::optional<Pair> pair{};        ///< only for collectives that have peers
  const Traffic* traffic = nullptr;  ///< only where parts are not equal
};

/// Where a rank sends to and what it receives from; -1: no rank.
struct Peers {
  int to = -1;
  int from = -1;
};

/// The least memory traffic of one operation of ranks that share their memory, all ranks together,
/// in sizes (Footprint::size), for any algorithm.
struct MinTraffic {
  double copied = 0;   ///< bytes that arrive where they were not
  double reduced = 0;  ///< bytes of one vector added to another
  double touched = 0;  ///< bytes of all ranks' buffers that take part
};

/// How data move, which is what predictions and ceilings depend on.
enum class Movement {
  AllReduce,    ///< twice round a ring
  Parts,        ///< a part of each rank, once round a ring
  Chain,        ///< the whole from one end of a chain to the other
  AllToAll,     ///< a part from each rank to each
  Gather,       ///< a part from each rank to the root
  Scatter,      ///< a part from the root to each rank
  SendReceive,  ///< the whole from a rank to the next
  HostCopy      ///< the whole between a GPU and its host, by itself: no rank waits for another
};

/// True for what has no better schedule than a ring through all ranks.
[[nodiscard]] constexpr bool is_ringed(Movement movement) { return movement <= Movement::Chain; }

/// What a collective operation is, as data and pure functions and without a backend.
struct Collective {
  std::string_view name;              ///< "allreduce": our executable's name without _perf
  std::string_view nccl_name = name;  ///< "all_reduce": nccl-tests' executable's, without _perf
  std::string_view title = name;      ///< "all-reduce"
  Movement movement = Movement::AllReduce;
  bool reduces = false;  ///< takes a reduction operation
  bool rooted = false;   ///< takes a root
  /// Element i of every result depends on elements i only: it may be issued in segments.
  bool elementwise = false;
  bool equal_parts = true;        ///< parts are of one size, as bounds and schedules suppose
  bool counts_parts = false;      ///< nccl-tests' count is of one part of as many as ranks
  bool checks_in_place = true;    ///< nccl-tests verifies it in place too
  bool had_empty_redop = false;   ///< nccl-tests until August 2022: a redop column without a word
  bool others_size_part = false;  ///< OSU's and IMB's size is one rank's part, ours the whole

  /// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md); 0 for one rank where
  /// nothing crosses a bus.
  double (*bus_factor)(int ranks) = nullptr;
  /// Rounds the wanted size down to what the collective can do with `ranks` ranks. This and what
  /// follows is null where no program of ours measures the collective.
  Footprint (*footprint)(const Amount& amount) = nullptr;
  InPlace (*in_place)(std::uint64_t count, int rank) = [](std::uint64_t, int) { return InPlace{}; };
  /// The pieces of a correct receive buffer; empty on a rank that receives nothing.
  std::vector<Piece> (*expected)(std::uint64_t count, const Position& position) = nullptr;
  /// The ranks that this one exchanges data with; null where all take part in one operation.
  Peers (*peers)(const Position& position) = nullptr;
  MinTraffic (*min_traffic)(int ranks, bool in_place) = nullptr;  ///< null: see min_traffic_of

  /// True where a program of ours measures it; others are only imported.
  [[nodiscard]] constexpr bool is_measured() const { return footprint != nullptr; }
  /// True where no rank can finish before the last has arrived.
  [[nodiscard]] constexpr bool waits_for_all() const { return !rooted && peers == nullptr; }
};

/// Collective::bus_factor, or what the fullest port has of the traffic.
[[nodiscard]] double bus_factor_of(const Collective& collective, int ranks, const Traffic* traffic);
/// Collective::min_traffic, or that of the traffic, which is out of place.
[[nodiscard]] MinTraffic min_traffic_of(const Collective& collective, int ranks, bool in_place,
                                        const Traffic* traffic);

/// The table of collectives.
[[nodiscard]] std::span<const Collective> all_collectives();

/// Those that programs of ours measure.
[[nodiscard]] std::vector<const Collective*> measured_collectives();

/// The names of all collectives, for messages.
[[nodiscard]] std::vector<std::string> collective_names();

/// The collective of a word in any spelling: all_reduce, allreduce_perf, osu_allreduce, Allreduce,
/// "All-to-All". Null where it is none.
[[nodiscard]] const Collective* find_collective(std::string_view word);
/// The row of a collective in the table of a library's routines. Throws Error (Unavailable) where
/// it has none.
template <class Routines>
[[nodiscard]] const auto& routine_of(const Routines& routines, std::string_view collective,
                                     std::string_view library) {
  const auto* const found = find_by(routines, collective, &Routines::value_type::collective);
  if (found != nullptr) return *found;
  throw Error{Status::Unavailable, fmt::format("{} has no {}", library, collective)};
}
/// "all-reduce" for "allreduce"; a name that the table lacks as it is.
[[nodiscard]] std::string collective_name(const std::string& collective);

}  // namespace busbar
