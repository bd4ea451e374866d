// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <mpi.h>

#include "model/bootstrap.hpp"

namespace busbar {

/// Starts MPI (with one thread that calls it) and ends it when the object goes. Throws Error
/// (Usage) where the launcher started more processes than MPI knows of, as with another MPI's
/// mpirun.
[[nodiscard]] std::unique_ptr<Bootstrap> start_mpi();

/// The communicator of a bootstrap of start_mpi or a part of it; MPI_COMM_WORLD for any other.
[[nodiscard]] MPI_Comm mpi_comm_of(const Bootstrap& bootstrap);

/// "MPICH 4.0.2", "Open MPI v4.1.4, ...": name and version of the MPI library. MPI must not be up.
[[nodiscard]] std::string mpi_library();

}  // namespace busbar
