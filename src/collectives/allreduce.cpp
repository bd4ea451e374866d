// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kAllReduce{
    .name = "allreduce",
    .nccl_name = "all_reduce",
    .title = "all-reduce",
    .reduces = true,
    .rooted = false,
    .elementwise = true,
    .footprint = same_everywhere,
    .bus_factor = [](int ranks) { return 2 * all_but_own_part(ranks); },
    .in_place = same_place,
    .expected = [](std::uint64_t count,
                   Position) { return std::vector<Piece>{{.count = count, .source = kAllRanks}}; },
    .least_work =
        [](int ranks, bool in_place) {
          return LeastWork{.copied = ranks - 1.0,
                           .reduced = ranks - 1.0,
                           .touched = ranks * (in_place ? 1.0 : 2.0)};
        },
};

const RegisteredCollective kRegistered{kAllReduce};

}  // namespace
}  // namespace busbar
