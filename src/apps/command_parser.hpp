// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

namespace busbar {

/// Gives the arguments of `busbar COMMAND` to the options that are declared; what is none stays in
/// app.remaining(). Throws a usage error of one line.
void parse_arguments(CLI::App& app, std::span<char* const> arguments, std::string_view command);

}  // namespace busbar
