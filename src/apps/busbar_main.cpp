// SPDX-License-Identifier: BSD-3-Clause
// The tool for everything that is not a measurement of one collective.
#include <cstdio>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/removed_words.hpp"
#include "format/output_file.hpp"
#include "harness/options.hpp"

namespace busbar {
namespace {

Status show_version(std::span<char* const> /*arguments*/) {
  fmt::print("{}", version_text());
  return Status::Ok;
}

Status show_usage(std::span<char* const> /*arguments*/) {
  return print_help("docs/busbar-options.md");
}

Status dispatch(std::span<char* const> words) {
  const std::vector<Command> commands = all_commands();
  std::vector<std::string> known;
  for (const Command& command : commands) {
    if (!command.name.starts_with('-')) known.emplace_back(command.name);
  }
  const std::string expected = fmt::format("expected {}; see busbar --help", alternatives(known));
  if (words.empty()) throw usage_error("missing command; {}", expected);
  const std::string_view wanted = words.front();
  for (const Command& command : commands) {
    if (command.name != wanted) continue;
    if (words.size() > 1 && command.syntax == nullptr) {
      if (words[1] == std::string_view("--help") || words[1] == std::string_view("-h")) {
        return show_usage({});
      }
      throw usage_error("{}: unexpected argument '{}'", wanted, words[1]);
    }
    return command.run(words.subspan(1));
  }
  const std::string removed = removed_word("busbar", wanted);
  if (!removed.empty()) throw usage_error("{}", removed);
  throw usage_error("unknown command '{}'; {}", wanted, suggestion(wanted, known, expected));
}

int run(std::span<char* const> arguments) {
  try {
    const Status status = dispatch(arguments.subspan(1));
    flush_standard_output();
    return exit_code(status);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "busbar: not enough memory is free for these files\n");
    return exit_code(Status::Runtime);
  } catch (const std::exception& error) {
    fmt::print(stderr, "busbar: {}\n", one_line(error.what()));
    const auto* known = dynamic_cast<const Error*>(&error);
    return exit_code(known != nullptr ? known->status() : Status::Runtime);
  }
}

}  // namespace

std::vector<Command> all_commands() {
  return {make_topo_command(),
          make_expect_command(),
          make_compare_command(),
          make_sweep_command(),
          make_accept_command(),
          make_doctor_command(),
          make_facts_command(),
          make_import_command(),
          make_workload_command(),
          make_mix_command(),
          make_plot_command(),
          make_report_command(),
          make_completion_command(),
          make_schema_command(),
          {"version", show_version, nullptr},
          {"help", show_usage, nullptr},
          {"--version", show_version, nullptr},
          {"-h", show_usage, nullptr},
          {"--help", show_usage, nullptr}};
}

}  // namespace busbar

int main(int argc, char** argv) {
  busbar::reserve_standard_streams();
  return busbar::run({argv, static_cast<std::size_t>(argc)});
}
