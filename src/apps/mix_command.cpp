// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "apps/commands.hpp"
#include "base/child_process.hpp"
#include "harness/mix_spec.hpp"

namespace busbar::mix_command {

constexpr CommandLineTable<NoOptions> kTable{
    {.program = "busbar mix", .help = "docs/mix-options.md"}, {}};

/// Becomes the command, whose program measures the mix: its exit code is the command's.
Status run(NoOptions& /*options*/, const Arguments& line) {
  const std::vector<std::string>& words = line.positionals;
  if (line.before_dashes != 1 || words.size() == 1) {
    throw usage_error(
        "mix: expected FILE|PRESET -- COMMAND, as in tp+dp -- mpirun -np 4 ./allreduce_perf");
  }
  const auto is_program = [](const std::string& word) { return word.ends_with("_perf"); };
  if (std::none_of(words.begin() + 1, words.end(), is_program)) {
    throw usage_error("mix: no *_perf program behind --, as in -- mpirun -np 4 ./allreduce_perf");
  }
  if (!is_mix_preset(words.front()) && !read_file(words.front())) {
    throw usage_error("mix: cannot read {}; give a file, tp+dp, incast:K or aggressor",
                      words.front());
  }
  Words command(words.begin() + 1, words.end());
  append(command, Words{"--mix", words.front()});
  const int error = become_program(command);
  throw Error{Status::Unavailable,
              fmt::format("mix: cannot start {}: {}", command.front(), std::strerror(error))};
}

}  // namespace busbar::mix_command

busbar::Command busbar::make_mix_command() {
  return command_of<mix_command::kTable, mix_command::run>();
}
