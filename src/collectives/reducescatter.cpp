// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kReduceScatter{
    .name = "reducescatter",
    .nccl_name = "reduce_scatter",
    .title = "reduce-scatter",
    .reduces = true,
    .rooted = false,
    .elementwise = false,
    .footprint =
        [](Bytes wanted, Bytes element, int ranks) {
          const std::uint64_t count = count_per_rank(wanted, element, ranks);
          const Bytes total = count * element * static_cast<Bytes>(ranks);
          return Footprint{.size = total, .send = total, .recv = count * element, .count = count};
        },
    .bus_factor = all_but_own_part,
    .in_place =
        [](std::uint64_t count, int rank) {
          return InPlace{.recv_offset = count * static_cast<std::uint64_t>(rank)};
        },
    .expected =
        [](std::uint64_t count, Position position) {
          const std::uint64_t first = count * static_cast<std::uint64_t>(position.rank);
          return std::vector<Piece>{{.count = count, .source = kAllRanks, .source_first = first}};
        },
};

const RegisteredCollective kRegistered{kReduceScatter};

}  // namespace
}  // namespace busbar
