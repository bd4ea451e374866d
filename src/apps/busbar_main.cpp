// SPDX-License-Identifier: BSD-3-Clause
// The tool for everything that is not a measurement of one collective.
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "apps/accept_command.hpp"
#include "apps/compare_command.hpp"
#include "apps/import_command.hpp"
#include "apps/plot_command.hpp"
#include "apps/published_command.hpp"
#include "apps/report_command.hpp"
#include "apps/topo_command.hpp"
#include "apps/workload_command.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "report/csv_writer.hpp"

namespace busbar {
namespace {

constexpr std::string_view kUsage =
    "usage: busbar COMMAND\n"
    "\n"
    "  topo       what this machine, a capture or a known system is, and what sets of its GPUs "
    "carry\n"
    "  compare    two groups of launches: what became faster or slower\n"
    "  accept     acceptance tests: measure by a specification, and judge\n"
    "  import     logs of nccl-tests, OSU and IMB into a CSV\n"
    "  workload   what the links cost a training step, from measured or given rates\n"
    "  plot       pictures of CSVs: bandwidth, share of the bound, time, scaling, pairs, samples, "
    "history\n"
    "  report     one page that compares systems: bounds, curves, where they cross, what limits "
    "them\n"
    "  published  the published rates of a file as CSV\n"
    "  schema     the columns of the CSV, as Markdown\n"
    "  version    the version\n"
    "\n"
    "busbar COMMAND -h tells more. To measure, run a collective: mpirun -np 4 ./allreduce_perf "
    "-h\n";

constexpr std::string_view kThereAre =
    "there are topo, accept, compare, import, workload, plot, report, published, schema and "
    "version; busbar -h says what they do";

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

constexpr std::array kCommands{
    Command{"accept", true, run_accept},       Command{"plot", true, run_plot},
    Command{"report", true, run_report},       Command{"topo", true, run_topo},
    Command{"import", true, run_import},       Command{"compare", true, run_compare},
    Command{"workload", true, run_workload},   Command{"published", true, run_published},
    Command{"schema", false, show_schema},     Command{"version", false, show_version},
    Command{"--version", false, show_version}, Command{"help", false, show_usage},
    Command{"-h", false, show_usage},          Command{"--help", false, show_usage},
};

Status dispatch(std::span<char* const> words) {
  if (words.empty()) throw usage_error(fmt::format("no command; {}", kThereAre));
  const std::string_view wanted = words.front();
  for (const Command& command : kCommands) {
    if (command.name != wanted) continue;
    if (words.size() > 1 && !command.takes_arguments) {
      throw usage_error(fmt::format("{} takes nothing more, and there is '{}'", wanted, words[1]));
    }
    return command.run(words.subspan(1));
  }
  throw usage_error(fmt::format("'{}' is no command; {}", wanted, kThereAre));
}

int run(std::span<char* const> arguments) {
  try {
    return exit_code(dispatch(arguments.subspan(1)));
  } catch (const Error& error) {
    fmt::print(stderr, "busbar: {}\n", one_line(error.what()));
    return exit_code(error.status());
  } catch (const std::exception& error) {
    fmt::print(stderr, "busbar: {}\n", one_line(error.what()));
    return exit_code(Status::Runtime);
  }
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) { return busbar::run({argv, static_cast<std::size_t>(argc)}); }
