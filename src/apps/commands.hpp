// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/output_file.hpp"

namespace busbar {

/// @name The commands of `busbar`, one per file; `arguments` follow the command's name
/// They throw Error for what ends them.
/// @{
[[nodiscard]] Status run_accept(std::span<char* const> arguments);
[[nodiscard]] Status run_compare(std::span<char* const> arguments);
[[nodiscard]] Status run_completion(std::span<char* const> arguments);
[[nodiscard]] Status run_doctor(std::span<char* const> arguments);
[[nodiscard]] Status run_expect(std::span<char* const> arguments);
[[nodiscard]] Status run_facts(std::span<char* const> arguments);
[[nodiscard]] Status run_import(std::span<char* const> arguments);
[[nodiscard]] Status run_mix(std::span<char* const> arguments);
[[nodiscard]] Status run_plot(std::span<char* const> arguments);
[[nodiscard]] Status run_report(std::span<char* const> arguments);
[[nodiscard]] Status run_schema(std::span<char* const> arguments);
[[nodiscard]] Status run_sweep(std::span<char* const> arguments);
[[nodiscard]] Status run_topo(std::span<char* const> arguments);
[[nodiscard]] Status run_workload(std::span<char* const> arguments);
/// @}

/// @name What their command lines may consist of
/// @{
[[nodiscard]] CommandLineSyntax accept_syntax();
[[nodiscard]] CommandLineSyntax compare_syntax();
[[nodiscard]] CommandLineSyntax completion_syntax();
[[nodiscard]] CommandLineSyntax doctor_syntax();
[[nodiscard]] CommandLineSyntax expect_syntax();
[[nodiscard]] CommandLineSyntax facts_syntax();
[[nodiscard]] CommandLineSyntax import_syntax();
[[nodiscard]] CommandLineSyntax mix_syntax();
[[nodiscard]] CommandLineSyntax plot_syntax();
[[nodiscard]] CommandLineSyntax report_syntax();
[[nodiscard]] CommandLineSyntax schema_syntax();
[[nodiscard]] CommandLineSyntax sweep_syntax();
[[nodiscard]] CommandLineSyntax topo_syntax();
[[nodiscard]] CommandLineSyntax workload_syntax();
/// @}

/// A word that follows `busbar`.
struct Command {
  std::string_view name;
  Status (*run)(std::span<char* const> arguments);
  CommandLineSyntax (*syntax)();  ///< null: it takes no arguments
};

/// All of them.
[[nodiscard]] std::span<const Command> all_commands();

/// Prints a help document, and what follows it.
inline Status print_help(std::string_view document, std::string_view appendix = "") {
  fmt::print("{}{}", embedded_text(document), appendix);
  return Status::Ok;
}

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
