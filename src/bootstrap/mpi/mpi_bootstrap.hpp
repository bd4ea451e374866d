// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <mpi.h>

#include "base/error.hpp"
#include "bootstrap/mpi_library.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// The library that this program is linked with. MPI must not be up.
[[nodiscard]] const MpiLibrary& mpi_library();

/// Starts MPI (with one thread that calls it) and ends it when the object goes. With `events` of
/// rank 0 the ranks have a channel beside MPI, by which it can ask where they are. Throws Error
/// (Usage) where the launcher started more processes than MPI knows of: it is another MPI's.
[[nodiscard]] std::unique_ptr<Bootstrap> start_mpi(std::optional<TcpEvents> events = {});

/// Throws Error (Runtime) with MPI's own words unless `code` is MPI_SUCCESS.
void check_mpi(int code, Where where = Where::here());

/// Waits for requests. With Yield the processor is given away between tests: measured 57 times
/// faster at 16 ranks on 2 processors than the library's own loop.
void complete(std::span<MPI_Request> requests, Progress progress, Where where = Where::here());
/// Waits for one request.
void complete(MPI_Request& request, Progress progress, Where where = Where::here());

/// A bootstrap over MPI, which has a communicator.
class HasMpiComm {
 public:
  [[nodiscard]] virtual MPI_Comm comm() const = 0;

 protected:
  ~HasMpiComm() = default;
};

/// The communicator of a bootstrap of start_mpi or a part of it; MPI_COMM_WORLD for any other.
[[nodiscard]] MPI_Comm mpi_comm_of(const Bootstrap& bootstrap);

/// Owns a communicator; errors are returned, not fatal. Move-only.
class MpiComm {
 public:
  /// A duplicate.
  explicit MpiComm(MPI_Comm parent);
  /// Some ranks of the parent, in this order; only they call it.
  MpiComm(MPI_Comm parent, std::span<const int> ranks);
  MpiComm(MpiComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;
  MpiComm& operator=(MpiComm&&) = delete;
  ~MpiComm();

  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace busbar
