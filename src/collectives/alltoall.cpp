// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kAllToAll{
    .name = "alltoall",
    .nccl_name = "alltoall",
    .title = "all-to-all",
    .reduces = false,
    .rooted = false,
    .elementwise = false,
    .footprint =
        [](Bytes wanted, Bytes element, int ranks) {
          Footprint footprint = parts_to_whole(wanted, element, ranks);
          footprint.send = footprint.recv;
          return footprint;
        },
    .bus_factor = all_but_own_part,
    .in_place = same_place,
    .expected =
        [](std::uint64_t count, Position position) {
          return one_part_per_rank(count, position.ranks,
                                   count * static_cast<std::uint64_t>(position.rank));
        },
    .least_work =
        [](int ranks, bool in_place) {  // a rank's own part is copied out of place
          return LeastWork{.copied = ranks - (in_place ? 1.0 : 0.0),
                           .touched = ranks * (in_place ? 1.0 : 2.0)};
        },
};

const RegisteredCollective kRegistered{kAllToAll};

}  // namespace
}  // namespace busbar
