// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace busbar::topo {

/// What is predicted; sizes are nccl-tests' (the larger of what a rank sends and receives).
enum class Operation {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  AllToAll,
  Gather,
  Scatter,
  SendReceive
};

/// True for what has no better schedule than a ring through all ranks.
[[nodiscard]] constexpr bool is_ringed(Operation operation) {
  return operation <= Operation::Reduce;
}

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it.
[[nodiscard]] constexpr double bus_factor(Operation operation, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  switch (operation) {
    case Operation::AllReduce: return 2 * others;
    case Operation::Broadcast:
    case Operation::Reduce:
    case Operation::SendReceive: return 1;
    default: return others;
  }
}

}  // namespace busbar::topo
