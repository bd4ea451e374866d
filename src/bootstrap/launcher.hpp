// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace busbar {

/// What the environment says of the program that started this process, before MPI is up.
struct Launcher {
  std::string name;
  int rank = 0;
  int size = 0;  ///< 0 where the launcher does not tell
};

using Environment = std::function<const char*(const char*)>;

/// The launcher, or nothing for a process started by hand. `lookup` is std::getenv but for tests.
[[nodiscard]] std::optional<Launcher> find_launcher(const Environment& lookup);
[[nodiscard]] std::optional<Launcher> find_launcher();

/// True on the one process of a job that may print before MPI is up.
[[nodiscard]] bool speaks_for_the_job();

}  // namespace busbar
