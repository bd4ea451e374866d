// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/routines.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace busbar {
namespace {

/// reduce_scatter_allgather takes half the message where the ranks are a power of two, else all.
Bytes half_or_all(Bytes size, int ranks) {
  if (ranks == 1) return 0;
  return std::has_single_bit(static_cast<unsigned>(ranks)) ? size / 2 : size;
}

/// pairwise (512 KiB and above) takes one block; recursive_halving twice the message.
Bytes block_or_twice(Bytes size, int ranks) {
  constexpr Bytes kPairwise = 512 * kKiB;
  return size >= kPairwise ? size / static_cast<Bytes>(ranks) : 2 * size;
}

/// ring and recursive_doubling take nothing; brucks (small, ranks no power of two) the message.
Bytes all_if_small(Bytes size, int /*ranks*/) {
  constexpr Bytes kRing = 80 * kKiB;
  return size < kRing ? size : 0;
}

Bytes nothing(Bytes /*size*/, int /*ranks*/) { return 0; }

/// MPI broadcasts one buffer. Out of place the root's data goes to its receive buffer too, as in
/// ncclBroadcast, so that out of place means the same on every backend.
void copy_at_root(const MpiArguments& a) {
  int rank = 0;
  int element = 0;
  MPI_Comm_rank(a.comm, &rank);
  if (rank != a.root || a.send == MPI_IN_PLACE) return;
  MPI_Type_size(a.type, &element);
  std::memcpy(a.recv, a.send,
              static_cast<std::size_t>(a.count) * static_cast<std::size_t>(element));
}

using A = MpiArguments;

const std::array<MpiRoutine, 4> kRoutines{{
    {.collective = "allreduce",
     .block =
         [](const A& a) { return MPI_Allreduce(a.send, a.recv, a.count, a.type, a.op, a.comm); },
     .post =
         [](const A& a, MPI_Request* r) {
           return MPI_Iallreduce(a.send, a.recv, a.count, a.type, a.op, a.comm, r);
         },
     .temporary = half_or_all},
    {.collective = "broadcast",
     .block =
         [](const A& a) {
           copy_at_root(a);
           return MPI_Bcast(a.recv, a.count, a.type, a.root, a.comm);
         },
     .post =
         [](const A& a, MPI_Request* r) {
           copy_at_root(a);
           return MPI_Ibcast(a.recv, a.count, a.type, a.root, a.comm, r);
         },
     .temporary = nothing},
    {.collective = "reducescatter",
     .block =
         [](const A& a) {
           return MPI_Reduce_scatter_block(a.send, a.recv, a.count, a.type, a.op, a.comm);
         },
     .post =
         [](const A& a, MPI_Request* r) {
           return MPI_Ireduce_scatter_block(a.send, a.recv, a.count, a.type, a.op, a.comm, r);
         },
     .temporary = block_or_twice,
     .in_place = same_place},  // the result of MPI_IN_PLACE is at the start of the buffer
    {.collective = "allgather",
     .block =
         [](const A& a) {
           return MPI_Allgather(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
         },
     .post =
         [](const A& a, MPI_Request* r) {
           return MPI_Iallgather(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm, r);
         },
     .temporary = all_if_small,
     .widens = true},
}};

}  // namespace

const MpiRoutine* find_routine(std::string_view collective) {
  for (const MpiRoutine& routine : kRoutines) {
    if (routine.collective == collective) return &routine;
  }
  return nullptr;
}

std::optional<MPI_Datatype> mpi_type(DataType type) {
  switch (type) {
    case DataType::Int8: return MPI_INT8_T;
    case DataType::Uint8: return MPI_UINT8_T;
    case DataType::Int32: return MPI_INT32_T;
    case DataType::Uint32: return MPI_UINT32_T;
    case DataType::Int64: return MPI_INT64_T;
    case DataType::Uint64: return MPI_UINT64_T;
    case DataType::Float: return MPI_FLOAT;
    case DataType::Double: return MPI_DOUBLE;
    case DataType::Half:
    case DataType::Bfloat16:
    case DataType::F8e4m3:
    case DataType::F8e5m2: break;
  }
  return std::nullopt;
}

std::optional<MPI_Op> mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum: return MPI_SUM;
    case ReduceOp::Prod: return MPI_PROD;
    case ReduceOp::Max: return MPI_MAX;
    case ReduceOp::Min: return MPI_MIN;
    case ReduceOp::None: return MPI_OP_NULL;
    case ReduceOp::Avg: break;
  }
  return std::nullopt;
}

}  // namespace busbar
