// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/bootstrap.hpp"

namespace busbar {

/// Whose memory need, limits and launchers are known; Other is any other library of MPI-3.
enum class MpiFamily { Mpich, OpenMpi, Other };

/// The MPI library of this process.
struct MpiLibrary {
  std::string name{};  ///< with its version: "MPICH 4.0.2", "Open MPI 4.1.4"
  MpiFamily family = MpiFamily::Other;
};

/// The library by what MPI_Get_library_version returns; pure.
[[nodiscard]] MpiLibrary read_mpi_library(std::string_view text);

/// What the header says of a library whose own need of memory was not measured; else empty.
[[nodiscard]] std::string memory_note(const MpiLibrary& library);

/// The library that this program is linked with. MPI must not be up.
[[nodiscard]] const MpiLibrary& mpi_library();

/// Starts MPI (with one thread that calls it) and ends it when the object goes. Throws Error
/// (Usage) where the launcher started more processes than MPI knows of, as with another MPI's
/// mpirun.
[[nodiscard]] std::unique_ptr<Bootstrap> start_mpi();

}  // namespace busbar
