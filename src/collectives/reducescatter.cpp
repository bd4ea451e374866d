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
    .footprint = whole_to_parts,
    .bus_factor = all_but_own_part,
    .in_place = receive_own_part,
    .expected =
        [](std::uint64_t count, Position position) {
          const std::uint64_t first = count * static_cast<std::uint64_t>(position.rank);
          return std::vector<Piece>{{.count = count, .source = kAllRanks, .source_first = first}};
        },
    .least_work = one_of_all,
};

const RegisteredCollective kRegistered{kReduceScatter};

}  // namespace
}  // namespace busbar
