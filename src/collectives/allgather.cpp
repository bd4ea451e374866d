// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

std::vector<Piece> one_block_per_rank(std::uint64_t count, Position position) {
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(position.ranks));
  for (int source = 0; source < position.ranks; ++source) {
    pieces.push_back({.first = count * static_cast<std::uint64_t>(source),
                      .count = count,
                      .source = source,
                      .source_first = 0});
  }
  return pieces;
}

const Collective kAllGather{
    .name = "allgather",
    .nccl_name = "all_gather",
    .title = "all-gather",
    .reduces = false,
    .rooted = false,
    .elementwise = false,
    .footprint =
        [](Bytes wanted, Bytes element, int ranks) {
          const std::uint64_t count = count_per_rank(wanted, element, ranks);
          const Bytes total = count * element * static_cast<Bytes>(ranks);
          return Footprint{.size = total, .send = count * element, .recv = total, .count = count};
        },
    .bus_factor = all_but_own_part,
    .in_place =
        [](std::uint64_t count, int rank) {
          return InPlace{.send_offset = count * static_cast<std::uint64_t>(rank)};
        },
    .expected = one_block_per_rank,
};

const RegisteredCollective kRegistered{kAllGather};

}  // namespace
}  // namespace busbar
