// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "backends/nccl/libraries.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// One operation as NCCL is asked for it.
struct NcclArguments {
  const Call& call;
  ncclDataType_t type = ncclFloat;
  ncclRedOp_t op = ncclSum;
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  const NcclCallConfig* config = nullptr;  ///< of this operation; null: the communicator's
};

/// A collective in NCCL: one row of the table in routines.cpp.
struct NcclRoutine {
  std::string_view collective;
  /// Enqueues it; NCCL's result, which may be "in progress".
  ncclResult_t (*enqueue)(const NcclArguments& arguments);
  /// Whether, in place, what is received overwrites what is still to be sent.
  bool overwrites = false;
  /// Whether it consists of sends and receives, which take no configuration.
  bool of_pairs = false;
};

/// The row of a collective that programs of ours measure.
[[nodiscard]] const NcclRoutine& nccl_routine(std::string_view collective);

/// NCCL's number of a type, which is ours; of the 8-bit floating types from kNcclSmallFloats on.
[[nodiscard]] ncclDataType_t nccl_type(DataType type);
/// NCCL's name for an operation; ncclSum for data movement, where it does not matter.
[[nodiscard]] ncclRedOp_t nccl_op(ReduceOp op);

}  // namespace busbar
