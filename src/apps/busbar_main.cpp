// SPDX-License-Identifier: BSD-3-Clause
// The tool for everything that is not a measurement of one collective.
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "harness/cli.hpp"
#include "report/schema_markdown.hpp"

namespace {

constexpr std::string_view kUsage =
    "usage: busbar COMMAND\n"
    "\n"
    "  schema     the columns of the CSV, as Markdown\n"
    "  version    the version\n"
    "\n"
    "To measure, run a collective: mpirun -np 4 ./allreduce_perf -h\n";

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view command = argc > 1 ? arguments[1] : "";
  if (argc == 2 && command == "schema") {
    fmt::print("{}", busbar::schema_markdown());
  } else if (argc == 2 && (command == "version" || command == "--version")) {
    fmt::print("busbar {}\n", busbar::version());
  } else if (argc == 2 && (command == "-h" || command == "--help" || command == "help")) {
    fmt::print("{}", kUsage);
  } else {
    fmt::print(stderr, "busbar: '{}' is no command; there are schema and version\n", command);
    return busbar::exit_code(busbar::Status::Usage);
  }
  return busbar::exit_code(busbar::Status::Ok);
}
