// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kScatter{
    .name = "scatter",
    .nccl_name = "scatter",
    .title = "scatter",
    .reduces = false,
    .rooted = true,
    .elementwise = false,
    .footprint = whole_to_parts,
    .bus_factor = all_but_own_part,
    .in_place = receive_own_part,
    .expected =
        [](std::uint64_t count, Position position) {
          const std::uint64_t first = count * static_cast<std::uint64_t>(position.rank);
          return std::vector<Piece>{
              {.count = count, .source = position.root, .source_first = first}};
        },
    .least_work = parts_at_one,
};

const RegisteredCollective kRegistered{kScatter};

}  // namespace
}  // namespace busbar
