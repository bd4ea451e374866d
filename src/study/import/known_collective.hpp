// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::study {

/// A collective as logs know it. `busbar` has no executable of a collective linked, so this is a
/// table of its own; a unit test holds it against the registry.
struct KnownCollective {
  std::string_view name;            ///< ours, in the CSV
  bool reduces = false;             ///< its rows have a reduction
  bool rooted = false;              ///< its rows have a root
  bool parts = false;               ///< nccl-tests' count is of one part of as many as ranks
  bool checks_in_place = true;      ///< nccl-tests verifies it in place too
  bool per_rank_elsewhere = false;  ///< OSU's and IMB's size is one rank's part, ours the whole
  double (*bus_factor)(int ranks) = nullptr;
};

/// The collective of a word in any spelling: all_reduce, allreduce_perf, osu_allreduce, Allreduce,
/// "All-to-All". Null where it is none.
[[nodiscard]] const KnownCollective* find_collective(std::string_view word);
[[nodiscard]] std::span<const KnownCollective> known_collectives();
/// Our names, for messages.
[[nodiscard]] std::vector<std::string> collective_names();

}  // namespace busbar::study
