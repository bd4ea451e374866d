// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kBroadcast{
    .name = "broadcast",
    .nccl_name = "broadcast",
    .title = "broadcast",
    .reduces = false,
    .rooted = true,
    .elementwise = true,
    .footprint = same_everywhere,
    .bus_factor = once,
    .in_place = same_place,
    .expected =
        [](std::uint64_t count, Position position) {
          return std::vector<Piece>{{.count = count, .source = position.root}};
        },
    .least_work = whole_at_all,
};

const RegisteredCollective kRegistered{kBroadcast};

}  // namespace
}  // namespace busbar
