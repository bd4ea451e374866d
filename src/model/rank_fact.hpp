// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace busbar {

/// The GPU of a rank, as a run's header names it.
struct RankGpu {
  int index = 0;
  std::string bus{};   ///< "0000:07:00.0"
  std::string uuid{};  ///< "GPU-..."
  std::string name{};  ///< "NVIDIA H200"
};

/// What a run's header reports of one rank, in the line "# rank-0: ...".
struct RankFact {
  std::string host{};
  int node = 0;
  int numa = -1;  ///< -1: unknown
  int core = -1;  ///< -1: not bound to one
  int processors = 0;
  std::optional<int> group{};
  std::optional<RankGpu> gpu{};
};

/// "host h1 node 0 numa 0 core 3 processors 8 device 0 bus 0000:07:00.0 uuid GPU-1 name NVIDIA
/// H200".
[[nodiscard]] std::string rank_fact_text(const RankFact& fact);
/// Reads that text; what is missing keeps its default.
[[nodiscard]] RankFact parse_rank_fact(std::string_view text);

}  // namespace busbar
