// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/output_file.hpp"

namespace busbar {

/// A word that follows `busbar`.
struct Command {
  std::string_view name;
  Status (*run)(std::span<char* const> arguments);  ///< throws Error for what ends it
  CommandLineSyntax (*syntax)();                    ///< null: it takes no arguments
};

/// All of them.
[[nodiscard]] std::vector<Command> all_commands();

/// @name Those with a file of their own
/// @{
[[nodiscard]] Command make_accept_command();
[[nodiscard]] Command make_compare_command();
[[nodiscard]] Command make_completion_command();
[[nodiscard]] Command make_doctor_command();
[[nodiscard]] Command make_expect_command();
[[nodiscard]] Command make_facts_command();
[[nodiscard]] Command make_import_command();
[[nodiscard]] Command make_mix_command();
[[nodiscard]] Command make_plot_command();
[[nodiscard]] Command make_report_command();
[[nodiscard]] Command make_schema_command();
[[nodiscard]] Command make_sweep_command();
[[nodiscard]] Command make_topo_command();
[[nodiscard]] Command make_workload_command();
/// @}

/// Prints a help document, and what follows it.
inline Status print_help(std::string_view document, std::string_view appendix = "") {
  fmt::print("{}{}", embedded_text(document), appendix);
  return Status::Ok;
}

/// Prints the help of a table, or runs what is given of its options.
template <class Options>
Status run_command(const CommandLineTable<Options>& table,
                   Status (*run)(Options&, const Arguments&), std::span<char* const> arguments) {
  Options options;
  const Arguments line = parse_options(table, arguments, options);
  return line.help ? print_help(table.help) : run(options, line);
}

/// The command of a table for "busbar NAME".
template <const auto& Table, auto Run>
[[nodiscard]] Command command_of() {
  return {.name = Table.program.substr(Table.program.find(' ') + 1),
          .run = [](std::span<char* const> words) { return run_command(Table, Run, words); },
          .syntax = [] { return syntax_of(Table); }};
}

/// Of a command without options.
struct NoOptions {};

/// Writes a new file, and reports it on stderr.
inline void write_new(const std::string& path, std::string_view option, std::string_view text) {
  OutputFile(path, option, OutputFile::Mode::New).append(text);
  fmt::print(stderr, "busbar: wrote {}\n", path);
}

/// What is to be printed: the text, or what --json asks for, unless that is to be in a file.
[[nodiscard]] inline std::string choose_output(const std::optional<std::string>& asked,
                                               const std::string& json, const std::string& text) {
  if (asked && (asked->empty() || *asked == "-")) return json;
  if (asked) write_new(*asked, "--json", json);
  return text;
}

/// Prints a line each on stderr, so that piped output stays as it is.
inline void print_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "busbar: warning: {}\n", one_line(warning));
  }
}

}  // namespace busbar
