// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

namespace busbar {
namespace {

/// To the next rank and from the one before; or of a pair the one way.
Peers ring_or_pair(Position position) {
  const int rank = position.rank;
  const int ranks = position.ranks;
  if (!position.pair) return {.to = (rank + 1) % ranks, .from = (rank + ranks - 1) % ranks};
  const auto [sender, receiver] = *position.pair;
  return {.to = rank == sender ? receiver : -1, .from = rank == receiver ? sender : -1};
}

const Collective kSendRecv{
    .name = "sendrecv",
    .nccl_name = "sendrecv",
    .title = "send-receive",
    .reduces = false,
    .rooted = false,
    .elementwise = true,
    .footprint = same_everywhere,
    .bus_factor = once,
    .in_place = same_place,
    .expected =
        [](std::uint64_t count, Position position) {
          const int source = ring_or_pair(position).from;
          if (source < 0) return std::vector<Piece>{};
          return std::vector<Piece>{{.count = count, .source = source}};
        },
    .peers = ring_or_pair,
    .least_work =
        [](int ranks, bool /*in_place*/) {
          return LeastWork{.copied = 1.0 * ranks, .touched = 2.0 * ranks};
        },
};

const RegisteredCollective kRegistered{kSendRecv};

}  // namespace
}  // namespace busbar
