// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

#include "harness/options.hpp"

namespace busbar {

/// What a command line asks for: a run with these options, or a text to print and be done.
struct CommandLine {
  Options options;
  std::optional<std::string> print_and_exit;
};

/// Reads a *_perf command line, without the program's name. Throws a usage error of one line.
[[nodiscard]] CommandLine parse_command_line(std::span<char* const> arguments);

/// docs/options.md, as compiled into the program.
[[nodiscard]] std::string_view help_text();
/// docs/COMMAND-options.md of a command of busbar, as compiled into the program; empty where there
/// is none.
[[nodiscard]] std::string_view help_text_of(std::string_view command);
/// "0.1.0"
[[nodiscard]] std::string_view version();

/// What --version prints: the version and the MPI library.
[[nodiscard]] std::string version_text();

}  // namespace busbar
