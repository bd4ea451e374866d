// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <nccl.h>

#include "tests/fake_gpu/cudart/fault.hpp"
#include "tests/fake_gpu/nccl/communicator.hpp"
#include "tests/fake_gpu/nccl/exchange.hpp"

namespace fake_gpu {

enum class Collective {
  AllReduce,
  Reduce,
  Broadcast,
  ReduceScatter,
  AllGather,
  AlltoAll,
  Gather,
  Scatter,
  Send,
  Recv
};

/// One call of a communication function.
struct Operation {
  const char* function = "";
  Collective what = Collective::AllReduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  /// Or the peer, of Send and Recv.
  int root = 0;
  cudaStream_t stream = nullptr;
  CommPointer comm{};
  StreamPointer queue{};
  Reduction reduction{};
  FaultKind fault = FaultKind::None;
  /// Where other ranks' results go if NCCL knows the buffer, else null; see RegistrationCache.
  Pages registered_to{};

  [[nodiscard]] std::size_t bytes() const { return count * size_of(type); }
  [[nodiscard]] bool is_point_to_point() const {
    return what == Collective::Send || what == Collective::Recv;
  }
  /// Operations of one kind share their connections.
  [[nodiscard]] int kind() const {
    return static_cast<int>(is_point_to_point() ? Collective::Send : what);
  }
  /// How many bytes this rank reads and writes.
  [[nodiscard]] std::size_t from_bytes() const;
  [[nodiscard]] std::size_t to_bytes() const;
  /// Finds communicator, stream and operator, and refuses what NCCL refuses, and what would be
  /// wrong.
  [[nodiscard]] ncclResult_t check(ncclComm_t handle);
  /// Gives the exchange its part; false where memory is no longer there.
  [[nodiscard]] bool plan(Exchange& exchange) const;

 private:
  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  [[nodiscard]] ncclResult_t check_arguments();
  [[nodiscard]] ncclResult_t check_memory() const;
  [[nodiscard]] bool overlaps_wrongly() const;
};

}  // namespace fake_gpu
