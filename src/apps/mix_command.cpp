// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "apps/commands.hpp"
#include "base/child_process.hpp"
#include "harness/mix_spec.hpp"

namespace busbar {
namespace mix_command {

struct MixOptions {};

constexpr CommandLineTable<MixOptions> kTable{
    {.program = "busbar mix", .help = "docs/mix-options.md"}, {}};

/// Becomes the command, whose program measures the mix: its exit code is the command's.
Status run(std::span<char* const> arguments) {
  MixOptions options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
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

}  // namespace mix_command

Status run_mix(std::span<char* const> arguments) { return mix_command::run(arguments); }
CommandLineSyntax mix_syntax() { return syntax_of(mix_command::kTable); }

}  // namespace busbar
