// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kAllGather{
    .name = "allgather",
    .nccl_name = "all_gather",
    .title = "all-gather",
    .reduces = false,
    .rooted = false,
    .elementwise = false,
    .footprint = parts_to_whole,
    .bus_factor = all_but_own_part,
    .in_place = send_own_part,
    .expected = [](std::uint64_t count,
                   Position position) { return one_part_per_rank(count, position.ranks, 0); },
    .least_work = whole_at_all,
};

const RegisteredCollective kRegistered{kAllGather};

}  // namespace
}  // namespace busbar
