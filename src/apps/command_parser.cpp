// SPDX-License-Identifier: BSD-3-Clause
#include "apps/command_parser.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {

void parse_arguments(CLI::App& app, std::span<char* const> arguments, std::string_view command) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    throw usage_error(fmt::format("{} needs a value; see busbar {} -h", arguments.back(), command));
  } catch (const CLI::ParseError& error) {
    throw usage_error(one_line(error.what()));
  }
}

}  // namespace busbar
