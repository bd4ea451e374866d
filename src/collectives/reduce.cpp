// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

const Collective kReduce{
    .name = "reduce",
    .nccl_name = "reduce",
    .title = "reduce",
    .reduces = true,
    .rooted = true,
    .elementwise = true,
    .footprint = same_everywhere,
    .bus_factor = once,
    .in_place = same_place,
    .expected =
        [](std::uint64_t count, Position position) {
          if (position.rank != position.root) return std::vector<Piece>{};
          return std::vector<Piece>{{.count = count, .source = kAllRanks}};
        },
    .least_work = one_of_all,
};

const RegisteredCollective kRegistered{kReduce};

}  // namespace
}  // namespace busbar
