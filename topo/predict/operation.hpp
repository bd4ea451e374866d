// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

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

/// The operation of a collective's name ("allreduce"), or nothing.
[[nodiscard]] constexpr std::optional<Operation> find_operation(std::string_view collective) {
  constexpr std::array<std::pair<std::string_view, Operation>, 9> kNames{
      {{"allreduce", Operation::AllReduce},
       {"allgather", Operation::AllGather},
       {"reducescatter", Operation::ReduceScatter},
       {"broadcast", Operation::Broadcast},
       {"reduce", Operation::Reduce},
       {"alltoall", Operation::AllToAll},
       {"gather", Operation::Gather},
       {"scatter", Operation::Scatter},
       {"sendrecv", Operation::SendReceive}}};
  for (const auto& [name, operation] : kNames) {
    if (name == collective) return operation;
  }
  return std::nullopt;
}

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
