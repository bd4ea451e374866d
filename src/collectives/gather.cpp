// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kGather{
    .name = "gather",
    .nccl_name = "gather",
    .title = "gather",
    .reduces = false,
    .rooted = true,
    .elementwise = false,
    .footprint = parts_to_whole,
    .bus_factor = all_but_own_part,
    .in_place = send_own_part,
    .expected =
        [](std::uint64_t count, Position position) {
          if (position.rank != position.root) return std::vector<Piece>{};
          return one_part_per_rank(count, position.ranks, 0);
        },
    .least_work = parts_at_one,
};

const RegisteredCollective kRegistered{kGather};

}  // namespace
}  // namespace busbar
