// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "harness/options.hpp"
#include "model/collective.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::completion_command {

constexpr CommandLineTable<NoOptions> kTable{{.program = "busbar completion",
                                              .help = "docs/completion-options.md",
                                              .commands = "bash,zsh",
                                              .most_positionals = 0},
                                             {}};

bool is_part(View text, View argument) { return argument.find(text) != View::npos; }

/// As src/apps/completion.bash knows them.
View kind_of(View argument) {
  if (argument.empty()) return "flag";
  constexpr std::array kFiles{"FILE", "DIR", "PATH", "REPORT"};
  const bool is_file =
      std::ranges::any_of(kFiles, [&](View word) { return is_part(word, argument); });
  if (argument.starts_with("[=")) return is_file ? "=file" : "=value";
  return is_file ? "file" : "value";
}

/// What may follow an option: what its setter knows, else "auto" of "NAME|FILE|auto", and systems.
std::vector<std::string> offered_values(const OptionSyntax& option) {
  constexpr View kPlain = "abcdefghijklmnopqrstuvwxyz0123456789-";
  std::vector<std::string> values = option.values;
  if (values.empty()) values = split(option.argument, '|');
  std::erase_if(values, [&](const std::string& value) {
    return value.empty() || value.find_first_not_of(kPlain) != std::string::npos;
  });
  if (option.names == "--system" && is_part("FILE", option.argument)) {
    for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
      values.push_back(system.name());
    }
  }
  return values;
}

std::string row(View command, View only_with, View names, View kind,
                const std::vector<std::string>& values) {
  return fmt::format("{} {} {} {}{}{}\n", command, only_with.empty() ? "-" : only_with, names, kind,
                     values.empty() ? "" : " ", join(values, " "));
}

std::string rows_of(View command, const CommandLineSyntax& syntax) {
  const std::vector<std::string> commands =
      syntax.commands.empty() ? std::vector<std::string>{} : split(syntax.commands, ',');
  const View positionals = syntax.most_positionals == 0 ? "none" : "file";
  std::string text = row(command, syntax.default_command, "arguments", positionals, commands);
  for (const OptionSyntax& option : syntax.options) {
    text += row(command, option.commands, option.names, kind_of(option.argument),
                offered_values(option));
  }
  return text + row(command, "", "-h,--help", "flag", {});
}

/// The rows of all tables; "perf" stands for every measuring program.
std::string all_rows() {
  std::string text = rows_of("perf", syntax_of(perf_options()));
  std::vector<std::string> commands;
  for (const Command& command : all_commands()) {
    if (command.name.starts_with('-')) {
      text += row("busbar", "", command.name, "flag", {});
      continue;
    }
    commands.emplace_back(command.name);
    if (command.syntax != nullptr) text += rows_of(command.name, command.syntax());
  }
  return text + row("busbar", "", "arguments", "none", commands);
}

std::string all_programs() {
  std::string text = "busbar";
  for (const Collective* one : measured_collectives()) {
    text += fmt::format(" {}_perf", one->name);
    if (one->nccl_name != one->name) text += fmt::format(" {}_perf", one->nccl_name);
  }
  return text;
}

Status run(NoOptions& /*options*/, const Arguments& /*line*/) {
  const std::string programs = all_programs();
  fmt::print("#compdef {0}\n_busbar_programs=({0})\n_busbar_rows='{1}'\n{2}", programs, all_rows(),
             embedded_text("src/apps/completion.bash"));
  return Status::Ok;
}

}  // namespace busbar::completion_command

busbar::Command busbar::make_completion_command() {
  return command_of<completion_command::kTable, completion_command::run>();
}
