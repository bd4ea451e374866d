// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/mpi_library.hpp"

namespace busbar {

/// How ranks are started on this host.
struct RankLauncher {
  std::string program{};
  std::vector<std::string> arguments{};  ///< before the program to be started
};

/// Whether PATH has a program of this name; a function for tests.
using ProgramLookup = std::function<bool(std::string_view)>;

/// The launcher of a family of MPI libraries for `ranks` ranks. Throws Error (Unavailable) where
/// none of its names is a program. Pure.
[[nodiscard]] RankLauncher find_rank_launcher(MpiFamily family, int ranks, bool as_root,
                                              const ProgramLookup& is_program);

/// The same in PATH.
[[nodiscard]] RankLauncher find_rank_launcher(MpiFamily family, int ranks);

}  // namespace busbar
