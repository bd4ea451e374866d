// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/gpu/fake/nccl/communicator.hpp"
#include "tests/gpu/fake/nccl/reduction.hpp"

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

struct Traits {
  /// ncclFuncToString, or null for what is made of sends and receives, of which NCCL logs nothing.
  const char* logged;
  bool reduces = false;
  /// Is there a block for each rank, or of each?
  bool reads_many = false;
  bool writes_many = false;
  bool from_root = false;
  bool to_root = false;
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
  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  /// The memory behind the buffers; null where it is not there or this rank has none.
  [[nodiscard]] unsigned char* from_contents() const;
  [[nodiscard]] unsigned char* to_contents() const;
  [[nodiscard]] const Traits& traits() const;
  [[nodiscard]] Reduction reduction() const { return {op, type, comm->ranks()}; }
  /// Finds communicator and stream, and refuses what NCCL refuses, and what would be wrong.
  [[nodiscard]] ncclResult_t check(ncclComm_t handle);

 private:
  [[nodiscard]] ncclResult_t check_arguments() const;
  [[nodiscard]] ncclResult_t check_memory() const;
  [[nodiscard]] bool overlaps_wrongly() const;
};

/// Calls of this thread between ncclGroupStart and ncclGroupEnd; a call outside is a group of one.
void begin_group();
[[nodiscard]] ncclResult_t end_group();
[[nodiscard]] bool in_group();
/// Remembers the first error of a group, which its end returns.
void spoil_group(ncclResult_t error);

/// Adds a checked operation.
[[nodiscard]] ncclResult_t add_to_group(const Operation& operation);
/// Adds what all ranks of a communicator do before the group's operations.
[[nodiscard]] ncclResult_t add_to_group(const CommPointer& comm,
                                        std::function<ncclResult_t()> task);
/// A communicator that is starting: the group's end waits for it. Null where it is not in a group.
void add_to_group(const CommPointer& starting);

/// What NCCL 2.28 logs at NCCL_DEBUG=INFO when a communicator is ready (INIT).
void log_init(const Communicator& comm);
/// What it logs for an operation: how the rank connects, at its first (INIT), and what rank 0 chose
/// for a collective (TUNING).
void log_operation(const Operation& operation);

}  // namespace fake_gpu
