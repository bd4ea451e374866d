// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "bootstrap/mpi/mpi_bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// MPI_Alltoallv's arrays, in elements.
struct MpiParts {
  std::vector<int> send_counts{};
  std::vector<int> send_offsets{};
  std::vector<int> recv_counts{};
  std::vector<int> recv_offsets{};
};

/// The arguments of one MPI call on this rank. In place `send` is where the rank's data lies, and
/// each routine knows whose MPI_IN_PLACE that is.
struct MpiArguments {
  const void* send = nullptr;
  void* recv = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  Peers peers{};
  const MpiParts* parts = nullptr;  ///< only where parts are not equal
  bool in_place = false;
  void* copy = nullptr;  ///< memory for what a nonblocking call sends in place (copies_in_place)
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// What a nonblocking call may post; what it does not post stays MPI_REQUEST_NULL.
using MpiRequests = std::array<MPI_Request, 2>;

/// Bytes of each rank that a library touches beyond the user's buffers, for a call of `size` bytes
/// in nccl-tests' sense: the most of any rank and root, measured as growth of the resident set
/// (docs/dev/measurement.md, bench/temporary_memory.cpp).
struct TemporaryMemory {
  using Formula = Bytes (*)(Bytes size, int ranks);
  Formula mpich = [](Bytes, int) { return Bytes{0}; };     ///< 4.0.2
  Formula open_mpi = [](Bytes, int) { return Bytes{0}; };  ///< 4.1.4

  /// The larger of both where the library is neither.
  [[nodiscard]] Bytes bytes(MpiFamily family, Bytes size, int ranks) const;
};

/// A collective in MPI: one row of the table in routines.cpp.
struct MpiRoutine {
  std::string_view collective;
  /// Calls the nonblocking routine where there are requests, else the blocking one.
  int (*call)(const MpiArguments& arguments, MpiRequests* requests);
  TemporaryMemory temporary{};
  /// Whether a call of more than INT_MAX elements may use a wider type (data movement only).
  bool widens = false;
  /// Where MPI wants in-place data if not where nccl-tests has it.
  InPlace (*in_place)(std::uint64_t count, int rank) = nullptr;
  /// Why it cannot run in place; empty: it can.
  std::string_view not_in_place{};
  bool copies_in_place = false;
};

/// The row of a collective that programs of ours measure.
[[nodiscard]] const MpiRoutine& mpi_routine(std::string_view collective);

/// MPI's name for a type; MPI_DATATYPE_NULL where it has no such type.
[[nodiscard]] MPI_Datatype mpi_type(DataType type);
/// MPI's name for an operation; MPI_OP_NULL for an average, which it has not, and for none.
[[nodiscard]] MPI_Op mpi_op(ReduceOp op);

}  // namespace busbar
