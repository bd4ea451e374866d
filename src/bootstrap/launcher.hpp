// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/mpi_bootstrap.hpp"

namespace busbar {

/// What the environment says of the program that started this process, before MPI is up.
struct Launcher {
  std::string name;
  int rank = 0;
  int size = 0;  ///< 0 where the launcher does not report it
};

using Environment = std::function<const char*(const char*)>;

/// The launcher, or nothing for a process started by hand. `lookup` is std::getenv but for tests.
[[nodiscard]] std::optional<Launcher> find_launcher(const Environment& lookup);
[[nodiscard]] std::optional<Launcher> find_launcher();

/// True on the one process of a job that may print before MPI is up.
[[nodiscard]] bool speaks_for_the_job();

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
