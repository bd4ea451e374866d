// SPDX-License-Identifier: BSD-3-Clause
#include "harness/cli.hpp"

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "bootstrap/mpi_bootstrap.hpp"

namespace busbar {
namespace {

using View = std::string_view;
using O = Options;

constexpr std::int64_t kMost = 1 << 20;  // of small numbers
constexpr std::int64_t kMostRanks = 1 << 22;

Seconds seconds(View option, View text, double low) {
  constexpr double kLongest = 1e7;
  return Seconds{parse_number(option, text, low, kLongest)};
}

void set_types(O& options, View option, View text) {
  options.types.clear();
  std::vector<std::string> names;
  for (const TypeInfo& type : kTypes) {
    if (text == "all" || text == type.name) options.types.push_back(type.type);
    names.emplace_back(type.name);
  }
  names.emplace_back("all");
  if (options.types.empty()) throw invalid_value(option, text, names);
}

void set_ops(O& options, View option, View text) {
  options.ops.clear();
  std::vector<std::string> names;
  for (const ReduceOp op :
       {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min, ReduceOp::Avg}) {
    if (text == "all" || text == name(op)) options.ops.push_back(op);
    names.emplace_back(name(op));
  }
  names.emplace_back("all");
  if (options.ops.empty()) throw invalid_value(option, text, names);
}

void set_root(O& options, View option, View text) {
  options.root.reset();
  if (text != "all") set::integer<&O::root, 0, 1 << 30>(options, option, text);
}

void set_json(O& options, View option, View text) {
  if (!text.ends_with(".json")) {
    throw usage_error(fmt::format("{}: the name of '{}' must end in .json", option, text));
  }
  options.json_path = text;
}

void set_fault(O& options, View option, View text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 2) {
    throw usage_error(
        fmt::format("invalid value '{}' for {}; expected RANK:INDEX, as in 1:12345", text, option));
  }
  options.inject_fault =
      Fault{.rank = static_cast<int>(parse_integer(option, parts[0], 0, 1 << 30)),
            .index = static_cast<std::uint64_t>(
                parse_integer(option, parts[1], 0, std::numeric_limits<std::int64_t>::max()))};
}

void set_ci_width(O& options, View option, View text) {
  constexpr double kPercent = 100;
  if (text.ends_with('%')) text.remove_suffix(1);
  options.ci_width = parse_number(option, text, 0.01, 50) / kPercent;
}

/// With those that a build may lack: choose_backend reports why one is missing.
void set_backend(O& options, View option, View text) {
  const std::vector<std::string> names{"auto", "nccl", "mpi", "sim"};
  options.backend = text;
  if (std::find(names.begin(), names.end(), text) == names.end()) {
    throw invalid_value(option, text, names);
  }
}

void set_host_limits(O& options, View option, View text) {
  options.host_limits = text == "auto";
  if (text != "auto" && text != "off") throw invalid_value(option, text, split("auto,off", ','));
}

void set_algorithm(O& options, View option, View text) {
  using topo::Algorithm;
  options.algorithm.reset();
  std::vector<std::string> names{"auto"};
  for (const Algorithm algorithm :
       {Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical, Algorithm::Nvls}) {
    if (name(algorithm) == text) options.algorithm = algorithm;
    names.emplace_back(name(algorithm));
  }
  if (!options.algorithm && text != "auto") throw invalid_value(option, text, names);
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"-b,--minbytes", "SIZE",
     [](O& o, View n, View v) { o.sweep.first = parse_positive_bytes(n, v); }},
    {"-e,--maxbytes", "SIZE",
     [](O& o, View n, View v) { o.sweep.last = parse_positive_bytes(n, v); }},
    {"-i,--stepbytes", "SIZE",
     [](O& o, View n, View v) { o.sweep.step = parse_positive_bytes(n, v); }},
    {"-f,--stepfactor", "N",
     [](O& o, View n, View v) {
       o.sweep.factor = static_cast<std::uint64_t>(parse_integer(n, v, 1, kMost));
     }},
    {"-n,--iters", "N", set::integer_or_auto<&O::operations, 1>},
    {"-w,--warmup_iters", "N", set::integer_or_auto<&O::warmup_operations, 0>},
    {"-m,--agg_iters", "N", set::integer<&O::aggregated, 1, kMost>},
    {"-N,--run_cycles", "N", set::integer<&O::cycles, 0>},
    {"-a,--average", "N", set::integer<&O::aggregation, 0, 3>},
    {"-c,--check", "N", set::integer<&O::checks, 0, 1000>},
    {"-o,--op", "OP", set_ops},
    {"-d,--datatype", "TYPE", set_types},
    {"-r,--root", "RANK", set_root},
    {"-z,--blocking", "N", set::integer<&O::blocking, 0, 3>},
    {"-S,--report_timestamps", "1", set::integer<&O::timestamps, 0, 1>},
    {"-T,--timeout", "SECONDS", [](O& o, View n, View v) { o.timeout = seconds(n, v, 0); }},
    {"-J,--output_file", "FILE", set_json},
    {"-g,--ngpus", "N", set::integer<&O::launch_ranks, 1, 1 << 16>},
    {"--backend", "NAME", set_backend},
    {"--csv", "FILE", set::file<&O::csv_path>},
    {"--samples", "FILE", set::file<&O::samples_path>},
    {"--resume", "", set::value<&O::resume>},
    {"--cadence", "HOW", set::value<&O::cadence>},
    {"--ci-width", "PERCENT", set_ci_width},
    {"--time-budget", "SECONDS",
     [](O& o, View n, View v) { o.time_budget = seconds(n, v, 0.001); }},
    {"--progress", "HOW", set::value<&O::progress>},
    {"--cache", "HOW", set::value<&O::cache>},
    {"--pages", "SIZE", set::value<&O::pages>},
    {"--bind", "WHAT", set::value<&O::bind>},
    {"--memory-limit", "SIZE", set::size<&O::memory_limit>},
    {"--placement", "WHICH", set::value<&O::placement>},
    {"--host-limits", "HOW", set_host_limits},
    {"--seed", "N", set::integer<&O::seed, 0>},
    {"--inject-fault", "RANK:INDEX", set_fault},
    {"-p,--parallel_init", "N", [](O&, View n, View v) { (void)parse_integer(n, v, 0, 1); }},
    {"-G,--cudagraph", "N", set::integer<&O::graph_launches, 0, kMost>},
    {"-R,--local_register", "N", set::integer<&O::registration, 0, 2>},
    {"-x,--cta_policy", "N", set::integer<&O::cta_policy, 0, 2>},
    {"-C,--report_cputime", "1", set::integer<&O::enqueue_times, 0, 1>},
    {"-M,--memory", "1", set::integer<&O::memory_use, 0, 1>},
    {"--nccl-choice", "", set::value<&O::nccl_choice>},
    {"-u,--unalign", "N", set::integer<&O::unalign, 0, kMost>},
    {"-I,--per_iter_timing", "1", set::integer<&O::per_operation, 0, 1>},
    {"-K,--per_iter_skip", "N", set::integer<&O::skipped_samples, 0>},
    {"--devices", "WHICH", [](O& o, View n, View v) { o.devices = topo::parse_selection(n, v); }},
    {"--nvidia-smi", "PATH", set::value<&O::nvidia_smi>},
    {"--share-gpus", "", set::value<&O::share_devices>},
    {"--system", "NAME", set::file<&O::system>},
    {"--ranks", "N", set::integer<&O::ranks, 1, kMostRanks>},
    {"--flows", "N", set::integer<&O::flows, 1, kMostRanks>},
    {"--algorithm", "NAME", set_algorithm},
    {"--pairs", "all", set::value<&O::pairs>},
    {"--version", "", [](O&, View, View) {}},
});

constexpr auto kForeign = std::to_array<ForeignOption>({
    {"-t,--nthreads", "a rank is a process here; start more ranks with mpirun -np"},
    {"-y,--stream_null", "operations always run on their own stream"},
    {"-D,--device_implementation", "it runs its own kernels; busbar measures the library's"},
    {"-V,--device_cta_count", "only meaningful with -D, which busbar does not support"},
});
constexpr CommandLineTable<O> kTable{
    {.help = "docs/options.md", .most_positionals = 0, .foreign = kForeign}, kOptions};

}  // namespace

const CommandLineTable<Options>& perf_options() { return kTable; }

CommandLine parse_command_line(std::span<char* const> arguments) {
  CommandLine line;
  Options& options = line.options;
  const Arguments given = parse_options(kTable, arguments, options);
  if (given.help) {
    line.print_and_exit = embedded_text(kTable.help);
  } else if (given.has("--version")) {
    line.print_and_exit = version_text();
  }
  if (line.print_and_exit) return line;
  // nccl-tests: a factor wins over a step; a step alone means no factor.
  if (given.has("-i") && !given.has("-f")) options.sweep.factor = 1;
  if (!given.has("-i")) options.sweep.step = kMiB;
  check_options(options);
  return line;
}

std::string version_text() {
  return fmt::format("busbar {}\nMPI library: {}\n", version(), mpi_library().name);
}

}  // namespace busbar
