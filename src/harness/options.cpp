// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include <array>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "bootstrap/mpi_library.hpp"
#include "stats/median_interval.hpp"

namespace busbar {
namespace {

using O = Options;

/// An option that not every run has a use for, and whether it was given.
struct LimitedOption {
  std::string_view name;
  bool (*is_given)(const Options& options);
};

template <auto Member>
bool differs(const Options& options) {
  return options.*Member != Options{}.*Member;
}

constexpr std::array kSimulationOptions{LimitedOption{"--system", differs<&O::system>},
                                        LimitedOption{"--nic", differs<&O::network>},
                                        LimitedOption{"--flows", differs<&O::flows>},
                                        LimitedOption{"--algorithm", differs<&O::algorithm>}};
/// They concern operations that run; a simulation runs none.
constexpr std::array kMeasurementOptions{
    LimitedOption{"--samples", differs<&O::samples_path>},
    LimitedOption{"--resume", differs<&O::resume>},
    LimitedOption{"--visits", differs<&O::visits>},
    LimitedOption{"--inject-fault", [](const O& o) { return o.inject_fault.has_value(); }},
    LimitedOption{"--pairs", differs<&O::pairs>},
    LimitedOption{"-g", differs<&O::launch_ranks>},
    LimitedOption{"--rendezvous", differs<&O::rendezvous>},
    LimitedOption{"--rank", differs<&O::rank>},
    LimitedOption{"NCCL_TESTS_SPLIT", [](const O& o) { return o.split.has_value(); }},
    LimitedOption{"-I", differs<&O::per_operation>},
    LimitedOption{"-C", differs<&O::enqueue_times>},
    LimitedOption{"-M", differs<&O::memory_use>},
    LimitedOption{"--nccl-choice", differs<&O::nccl_choice>},
    LimitedOption{"-G", differs<&O::graph_launches>}};
constexpr std::array kDeviceOptions{
    LimitedOption{"-G", differs<&O::graph_launches>},
    LimitedOption{"-R", differs<&O::registration>},
    LimitedOption{"-x", differs<&O::cta_policy>},
    LimitedOption{"-M", differs<&O::memory_use>},
    LimitedOption{"--nccl-choice", differs<&O::nccl_choice>},
    LimitedOption{
        "--devices median",
        [](const O& o) { return o.devices && o.devices->policy == topo::Policy::Median; }},
    LimitedOption{"--nvidia-smi", differs<&O::nvidia_smi>},
    LimitedOption{"--share-gpus", differs<&O::share_devices>}};
constexpr std::array kHostOptions{LimitedOption{"--pages", differs<&O::pages>}};

/// Refuses the first of these options that was given.
void refuse(std::span<const LimitedOption> limited, const Options& options,
            std::string_view problem) {
  for (const LimitedOption& option : limited) {
    if (option.is_given(options)) throw usage_error(fmt::format("{} {}", option.name, problem));
  }
}

void check_sweep(const Sweep& sweep) {
  constexpr std::size_t kMostSizes = 100000;
  if (sweep.first > sweep.last) {
    throw usage_error(
        fmt::format("-b {} is larger than -e {}; give a larger -e", sweep.first, sweep.last));
  }
  if (sweep.factor == 1 && (sweep.last - sweep.first) / sweep.step > kMostSizes) {
    throw usage_error(
        fmt::format("-i {}: more than {} sizes; give a larger step, or a factor with -f",
                    sweep.step, kMostSizes));
  }
}

void check_outputs(const Options& o) {
  if (o.resume && (o.csv_path.empty() || o.csv_path == "-")) {
    throw usage_error("--resume: missing file to resume, as in --csv results.csv --resume");
  }
  struct Output {
    std::string_view option;
    const std::string& path;
  };
  const std::array outputs{Output{"--csv", o.csv_path}, Output{"--samples", o.samples_path},
                           Output{"-J", o.json_path}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (outputs[i].path.empty() || outputs[i].path != outputs[k].path) continue;
      throw usage_error(fmt::format("{} and {} name the same file, {}; give another",
                                    outputs[i].option, outputs[k].option, outputs[i].path));
    }
  }
}

void check_visits(const Options& o) {
  if (o.visits == 1) return;
  if (o.visits < stats::kFewestVisits) {
    throw usage_error("invalid value '{}' for --visits; expected 1, or {} and more", o.visits,
                      stats::kFewestVisits);
  }
  if (o.cycles != 1) {
    throw usage_error("--visits and -N are mutually exclusive: a cycle has rows of its own");
  }
  if (o.graph_launches > 0 && o.operations) {
    throw usage_error(
        "--visits and -G with -n are mutually exclusive: all of the graph's launches are one "
        "sample");
  }
  if (o.operations && *o.operations < o.visits) {
    throw usage_error("--visits {}: -n {} is less than one operation per visit; give a larger -n",
                      o.visits, *o.operations);
  }
}

/// How ranks are started, or find each other.
void check_starting(const Options& o) {
  const bool starts = o.launch_ranks > 1 || !o.hosts.empty();
  if (o.ranks && o.rendezvous.empty()) {
    throw usage_error("--ranks needs --rendezvous HOST:PORT or --backend sim");
  }
  if (starts && !o.rendezvous.empty()) {
    throw usage_error("-g and --rendezvous are mutually exclusive: -g starts all ranks itself");
  }
}

void check_timing(const Options& o) {
  const bool waits = o.blocking == Blocking::WaitAndBarrier || o.blocking == Blocking::Wait;
  if (o.skipped_samples > 0 && !o.per_operation) throw usage_error("-K has no effect without -I 1");
  if (o.operations && o.skipped_samples >= *o.operations && o.skipped_samples > 0) {
    throw usage_error(fmt::format("-K {} skips all of -n {}; give a smaller -K", o.skipped_samples,
                                  *o.operations));
  }
  if (o.graph_launches > 0 && waits) {
    throw usage_error("-G: operations inside a graph cannot be waited for; give -z 0 or -z 3");
  }
  if (o.graph_launches > 0 && o.per_operation) {
    throw usage_error("-G and -I are mutually exclusive: a graph is timed as a whole");
  }
}

}  // namespace

void apply_environment(Options& options, const std::function<const char*(const char*)>& lookup) {
  if (const char* split = lookup("NCCL_TESTS_SPLIT")) options.split = parse_split(split);
  if (const char* mask = lookup("NCCL_TESTS_SPLIT_MASK")) options.split = parse_split_mask(mask);
  if (const char* device = lookup("NCCL_TESTS_DEVICE")) {
    options.first_device = static_cast<int>(parse_integer("NCCL_TESTS_DEVICE", device, 0, 1 << 16));
  }
}

void check_applicable(const Options& options, const Backend& backend,
                      const Collective& collective) {
  if (options.pairs == Pairs::All && collective.peers == nullptr) {
    throw usage_error(
        fmt::format("--pairs: {} has no pairs of ranks; use sendrecv_perf", collective.title));
  }
  const bool devices = backend.has_devices();
  refuse(devices ? std::span<const LimitedOption>(kHostOptions) : kDeviceOptions, options,
         fmt::format("has no effect on the {} backend; use --backend {}, or leave it out",
                     backend.name(), devices ? "mpi" : "nccl"));
}

void check_options(const Options& options) {
  check_sweep(options.sweep);
  if (options.devices && options.bind == Bind::None) {
    throw usage_error("--devices and --bind none are mutually exclusive");
  }
  if (options.pairs == Pairs::All && options.split) {
    throw usage_error("--pairs all and NCCL_TESTS_SPLIT are mutually exclusive");
  }
  check_timing(options);
  check_visits(options);
  if (options.backend != "sim") {
    refuse(kSimulationOptions, options,
           "needs --backend sim; to measure with several ranks use mpirun -np");
    check_starting(options);
  } else if (options.system.empty()) {
    throw usage_error("--backend sim needs --system, as in --system dgx-2 or --system my-box.toml");
  } else {
    refuse(kMeasurementOptions, options, "has no effect with --backend sim");
  }
  check_outputs(options);
}

namespace {

constexpr std::array<std::pair<std::string_view, Split::Rule>, 8> kSpellings{
    {{"and", Split::Rule::And},
     {"or", Split::Rule::Or},
     {"mod", Split::Rule::Mod},
     {"div", Split::Rule::Div},
     {"&", Split::Rule::And},
     {"|", Split::Rule::Or},
     {"%", Split::Rule::Mod},
     {"/", Split::Rule::Div}}};

std::optional<std::uint64_t> parse_any_base(std::string_view text) {
  if (text.starts_with("0x")) return to_number<std::uint64_t>(text.substr(2), 16);
  if (text.starts_with("0b")) return to_number<std::uint64_t>(text.substr(2), 2);
  return to_number<std::uint64_t>(text);
}

}  // namespace

int Split::color(int rank) const {
  const auto r = static_cast<std::uint64_t>(rank);
  switch (rule) {
    case Rule::And: return static_cast<int>(r & operand);
    case Rule::Or: return static_cast<int>(r | operand);
    case Rule::Mod: return static_cast<int>(r % operand);
    case Rule::Div: break;
  }
  return static_cast<int>(r / operand);
}

std::vector<int> groups_of(const std::optional<Split>& split, int ranks) {
  std::map<int, int> group_of_color;
  std::vector<int> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    const int color = split ? split->color(rank) : 0;
    const int next = static_cast<int>(group_of_color.size());
    groups.push_back(group_of_color.emplace(color, next).first->second);
  }
  return groups;
}

Split parse_split(std::string_view text) {
  constexpr std::uint64_t kLargest = 1U << 30U;
  const std::string lowered = lower(text);
  for (const auto& [word, rule] : kSpellings) {
    if (!lowered.starts_with(word)) continue;
    const auto operand = parse_any_base(trim(std::string_view{lowered}.substr(word.size())));
    const bool divides = rule == Split::Rule::Mod || rule == Split::Rule::Div;
    if (!operand || *operand > kLargest || (divides && *operand == 0)) break;
    return {.rule = rule, .operand = *operand};
  }
  throw usage_error(
      fmt::format("NCCL_TESTS_SPLIT: '{}' is not AND, OR, MOD or DIV and a number, as in \"MOD 8\" "
                  "or \"AND 0x7\"",
                  text));
}

Split parse_split_mask(std::string_view text) {
  constexpr std::uint64_t kLargest = 0x7fffffff;
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  const auto mask = to_number<std::uint64_t>(digits, 16);
  if (!mask) {
    throw usage_error(
        fmt::format("NCCL_TESTS_SPLIT_MASK: '{}' is no hexadecimal number, as in 0x7", text));
  }
  return {.rule = Split::Rule::And, .operand = *mask & kLargest};
}

namespace {

constexpr std::int64_t kMost = 1 << 20;  // of small numbers
constexpr std::int64_t kMostRanks = 1 << 22;

Seconds seconds(View option, View text, double low) {
  constexpr double kLongest = 1e7;
  return Seconds{parse_number(option, text, low, kLongest)};
}

/// One of the values by its name, or "all" of them.
template <class Values, class NameOf>
auto one_or_all(View option, View text, const Values& values, NameOf name_of) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(name_of(value));
  names.emplace_back("all");
  const std::size_t wanted = parse_choice(option, text, names);
  if (wanted == values.size()) return std::vector(values.begin(), values.end());
  return std::vector{values[wanted]};
}

void set_types(O& options, View option, View text) {
  options.types.clear();
  const auto name_of = [](const TypeInfo& type) { return type.name; };
  for (const TypeInfo& type : one_or_all(option, text, kTypes, name_of)) {
    options.types.push_back(type.type);
  }
}

void set_ops(O& options, View option, View text) {
  constexpr std::array kOps{ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min,
                            ReduceOp::Avg};
  options.ops = one_or_all(option, text, kOps, [](ReduceOp op) { return name(op); });
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
  const std::vector<std::string> names{"auto", "nccl", "mpi", "gloo", "sim"};
  options.backend = names[parse_choice(option, text, names)];
}

void set_host_limits(O& options, View option, View text) {
  options.host_limits = parse_choice(option, text, split("auto,off", ',')) == 0;
}

void set_algorithm(O& options, View option, View text) {
  std::vector<std::string> names{"auto"};
  for (const topo::Algorithm algorithm : topo::kAlgorithms) names.emplace_back(name(algorithm));
  const std::size_t wanted = parse_choice(option, text, names);
  options.algorithm.reset();
  if (wanted > 0) options.algorithm = topo::kAlgorithms.at(wanted - 1);
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
    {"--visits", "N", set::integer<&O::visits, 1, 1000>},
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
    {"--hosts,--nodes", "a,b,c|N", [](O& o, View, View v) { o.hosts = split(v, ','); }},
    {"--launcher", "NAME", set::value<&O::launcher>},
    {"--rendezvous", "HOST:PORT", set::value<&O::rendezvous>},
    {"--rank", "N", set::integer<&O::rank, 0, kMostRanks>},
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
    {"--nic", "[COUNTx]GBPS", [](O& o, View n, View v) { o.network = topo::parse_network(n, v); }},
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
  const MpiSupport* mpi = find_mpi();
  return fmt::format("busbar {}\nMPI library: {}\nbackends: {}\n", version(),
                     mpi == nullptr ? "none (built with MPI=0)" : mpi->library().name,
                     names_in_this_build());
}

}  // namespace busbar
