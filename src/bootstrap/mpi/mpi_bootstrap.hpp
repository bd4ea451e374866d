// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "bootstrap/mpi_library.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// The library that this program is linked with. MPI must not be up.
[[nodiscard]] const MpiLibrary& mpi_library();

/// Starts MPI (with one thread that calls it) and ends it when the object goes. With `events` of
/// rank 0 the ranks have a channel beside MPI, by which it can ask where they are. Throws Error
/// (Usage) where the launcher started more processes than MPI knows of: it is another MPI's.
[[nodiscard]] std::unique_ptr<Bootstrap> start_mpi(std::optional<TcpEvents> events = {});

}  // namespace busbar
