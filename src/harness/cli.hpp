// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/options.hpp"
#include "harness/options.hpp"

namespace busbar {

/// A command line of a *_perf program: options of a run, or a text to print instead.
struct CommandLine {
  Options options;
  std::optional<std::string> print_and_exit;
};

/// Reads a *_perf command line, without the program's name. Throws a usage error of one line.
[[nodiscard]] CommandLine parse_command_line(std::span<char* const> arguments);

/// All options of *_perf.
[[nodiscard]] const CommandLineTable<Options>& perf_options();

/// What --version prints: the version and the MPI library.
[[nodiscard]] std::string version_text();

}  // namespace busbar
