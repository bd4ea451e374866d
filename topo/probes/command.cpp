// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/command.hpp"

#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/probes/command_loop.hpp"

namespace busbar::topo {

CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                          Seconds timeout) {
  constexpr int kShellsNotFound = 127;
  std::vector<std::string> line = {program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  CommandLoop loop;
  const int error = loop.start(0, line, {.timeout = timeout});
  if (is_missing_program(error)) {
    return {.exit_status = kShellsNotFound,
            .err = std::generic_category().message(error),
            .not_found = true};
  }
  if (error != 0) throw system_failure(fmt::format("cannot start {}", program), error);
  while (true) {
    std::vector<CommandLoop::Ended> ended = loop.wait();
    if (!ended.empty()) return std::move(ended.front().result);
  }
}

}  // namespace busbar::topo
