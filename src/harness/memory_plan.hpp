// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/options.hpp"
#include "harness/rank_map.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The memory that buffers come from, where it is scarcest; the same on every rank.
struct MemoryPool {
  std::string_view place = "host";  ///< what has it: a "host" or a "GPU"
  int ranks = 1;                    ///< that share it, where most do
  Bytes free = 0;                   ///< for all of them, before any buffer
  double share = 1;                 ///< of it that a plan may take
  bool by_option = false;           ///< `free` is --memory-limit

  [[nodiscard]] Bytes per_rank() const {
    return static_cast<Bytes>(static_cast<double>(free) * share) / static_cast<Bytes>(ranks);
  }
};

/// Host memory of the rank map, or the free memory of the fullest device that a rank has.
/// Collective over the job.
[[nodiscard]] MemoryPool plan_memory(Bootstrap& world, const Options& options,
                                     const RankMap& rank_map, const Communicator& communicator,
                                     int ranks_on_device);

/// What one size may do where memory is scarcest.
struct SizePlan {
  Bytes wanted = 0;     ///< the size asked for
  Footprint footprint;  ///< what the collective makes of it
  bool out_of_place = true;
  bool in_place = true;
  std::uint64_t segment = 0;  ///< elements per library call; 0: one call
  std::uint64_t slots = 1;    ///< buffers that operations rotate through
  bool leaves_cache = false;  ///< they are as many bytes as rotating was asked to cover
  Bytes need = 0;        ///< of one rank for what the plan allows (for a skipped size: at least)
  std::string reason{};  ///< why a placement is skipped, with need and available; else empty
  std::string in_place_reason{};  ///< why only the in-place half is, where out of place may run
};

/// What the plan is made from: the same on every rank, so that every rank makes the same plan.
struct MemoryRequest {
  const Collective* collective = nullptr;
  DataType type = DataType::Float;
  ReduceOp op = ReduceOp::None;
  int ranks = 1;
  const Distribution* distribution = nullptr;  ///< only where parts are not equal
  std::string_view place = "host";             ///< what has the memory: MemoryPool
  int ranks_per_place = 1;
  Bytes available_per_rank = 0;  ///< what a place has for each of its ranks
  Bytes library_growth = 0;      ///< what the library has been seen to take of each rank's share
  bool out_of_place = true;      ///< wanted
  bool in_place = true;          ///< wanted
  Bytes rotate_through = 0;      ///< bytes that rotating buffers shall cover; 0: warm
  std::string obstacle{};        ///< why nothing may be measured, whatever its size; else empty
};

/// Plans one size: both placements, then in place only, then in segments, then nothing. What the
/// backend cannot do, or has no data for, is not planned.
[[nodiscard]] SizePlan plan_size(const MemoryRequest& request, const Communicator& communicator,
                                 Bytes wanted);

/// What a rank needs beside buffers and temporary_bytes: the library's connections,
/// tiles.
inline constexpr Bytes kMemorySlack = 32 * kMiB;
/// Bytes from one slot's part of a buffer to the next: parts begin on pages.
[[nodiscard]] Bytes slot_stride(Bytes bytes);
/// Segments of 16 MiB were the fastest of those tried at 1 GiB on 16 ranks.
inline constexpr Bytes kSegment = 16 * kMiB;

}  // namespace busbar
