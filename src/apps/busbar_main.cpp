// SPDX-License-Identifier: BSD-3-Clause
// The tool for everything that is not a measurement of one collective.
#include <array>
#include <cstdio>
#include <new>
#include <span>
#include <string_view>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "harness/options.hpp"
#include "report/csv_writer.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

constexpr std::string_view kUsage =
    "usage: busbar COMMAND\n"
    "\n"
    "  topo       show a machine's topology, the peak bandwidth of sets of its GPUs, and choose "
    "sets\n"
    "  expect     print what a machine should reach, and judge a number: \"is this right?\"\n"
    "  compare    compare two groups of launches: what became faster or slower\n"
    "  accept     run acceptance tests: measure by a specification, and judge\n"
    "  import     convert logs of nccl-tests, OSU and IMB to CSV\n"
    "  workload   estimate what the links cost a training step, from measured or given rates\n"
    "  calibrate  fit the figures of predictions to logs of a machine\n"
    "  plot       plot CSVs: bandwidth, share of the bound, time, scaling, pairs, samples, "
    "history\n"
    "  report     write one page that compares systems: bounds, curves, crossings, bottlenecks\n"
    "  published  print the published rates of a file as CSV\n"
    "  schema     print the columns of the CSV, as Markdown\n"
    "  version    print the version\n"
    "\n"
    "See busbar COMMAND --help. To measure, run a collective: mpirun -np 4 ./allreduce_perf -h\n";

Status show_schema(std::span<char* const> /*arguments*/) {
  fmt::print("{}", schema_markdown());
  return Status::Ok;
}

Status show_version(std::span<char* const> /*arguments*/) {
  fmt::print("{}", version_text());
  return Status::Ok;
}

Status show_usage(std::span<char* const> /*arguments*/) {
  fmt::print("{}", kUsage);
  return Status::Ok;
}

struct Command {
  std::string_view name;
  bool takes_arguments;
  Status (*run)(std::span<char* const> arguments);
};

constexpr auto kCommands = std::to_array<Command>({
    {"topo", true, run_topo},
    {"expect", true, run_expect},
    {"compare", true, run_compare},
    {"accept", true, run_accept},
    {"import", true, run_import},
    {"workload", true, run_workload},
    {"calibrate", true, run_calibrate},
    {"plot", true, run_plot},
    {"report", true, run_report},
    {"published", true, run_published},
    {"schema", false, show_schema},
    {"version", false, show_version},
    {"help", false, show_usage},
    {"--version", false, show_version},
    {"-h", false, show_usage},
    {"--help", false, show_usage},
});

Status dispatch(std::span<char* const> words) {
  std::vector<std::string> known;
  for (const Command& command : kCommands) {
    if (!command.name.starts_with('-')) known.emplace_back(command.name);
  }
  const std::string expected = fmt::format("expected {}; see busbar --help", alternatives(known));
  if (words.empty()) throw usage_error("missing command; {}", expected);
  const std::string_view wanted = words.front();
  for (const Command& command : kCommands) {
    if (command.name != wanted) continue;
    if (words.size() > 1 && !command.takes_arguments) {
      if (words[1] == std::string_view("--help") || words[1] == std::string_view("-h"))
        return show_usage({});
      throw usage_error("{}: unexpected argument '{}'", wanted, words[1]);
    }
    return command.run(words.subspan(1));
  }
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
}  // namespace busbar

int main(int argc, char** argv) {
  busbar::reserve_standard_streams();
  return busbar::run({argv, static_cast<std::size_t>(argc)});
}
