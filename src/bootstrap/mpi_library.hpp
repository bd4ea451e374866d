// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bootstrap/step_position.hpp"
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

/// The library of a name that read_mpi_library gave it; pure.
[[nodiscard]] MpiLibrary mpi_library_of(const std::string& name);

/// What the header says of a library whose own need of memory was not measured; else empty.
[[nodiscard]] std::string memory_note(const MpiLibrary& library);

/// MPI in this build: one static object of src/bootstrap/mpi registers itself.
struct MpiSupport {
  using Library = const MpiLibrary& (*)();
  using Start = std::unique_ptr<Bootstrap> (*)(std::optional<TcpEvents> events);

  MpiSupport(Library library, Start start);

  Library library;  ///< the library that this program is linked with; MPI must not be up
  Start start;      ///< mpi/mpi_bootstrap.hpp, start_mpi
};

/// Null where the program is built without MPI.
[[nodiscard]] const MpiSupport* find_mpi();

}  // namespace busbar
