// SPDX-License-Identifier: BSD-3-Clause
#include "harness/option_values.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

using View = std::string_view;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr double kLongestSeconds = 1e7;

std::uint64_t whole(View option, View text, std::int64_t low, std::int64_t high = kNoLimit) {
  return static_cast<std::uint64_t>(parse_integer(option, text, low, high));
}

Bytes positive_size(View option, View text) {
  const Bytes size = parse_bytes(option, text);
  if (size == 0) {
    throw usage_error(fmt::format("{}: a size of 0 measures nothing; give 1 or more", option));
  }
  return size;
}

Seconds seconds(View option, View text, double low) {
  return Seconds{parse_number(option, text, low, kLongestSeconds)};
}

template <class T>
struct Choice {
  View word;
  T value;
};

template <class T, std::size_t N>
T choose(View option, View text, const std::array<Choice<T>, N>& choices) {
  std::vector<std::string> words;
  for (const Choice<T>& choice : choices) {
    if (choice.word == text) return choice.value;
    words.emplace_back(choice.word);
  }
  throw usage_error(fmt::format("{}: '{}' is not one of {}", option, text, join(words, ", ")));
}

/// Of values that have names of their own.
template <class T, std::size_t N>
T choose(View option, View text, const std::array<T, N>& values) {
  std::vector<std::string> words;
  for (const T value : values) {
    if (name(value) == text) return value;
    words.emplace_back(name(value));
  }
  throw usage_error(fmt::format("{}: '{}' is not one of {}", option, text, join(words, ", ")));
}

void set_types(Options& options, View option, View text) {
  options.types.clear();
  std::vector<std::string> names;
  for (const TypeInfo& type : kTypes) {
    if (text == "all" || text == type.name) options.types.push_back(type.type);
    names.emplace_back(type.name);
  }
  if (!options.types.empty()) return;
  throw usage_error(fmt::format("{}: unknown type '{}'; give one of {}, or all", option, text,
                                join(names, ", ")));
}

void set_ops(Options& options, View option, View text) {
  options.ops.clear();
  std::vector<std::string> names;
  for (const ReduceOp op :
       {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min, ReduceOp::Avg}) {
    if (text == "all" || text == name(op)) options.ops.push_back(op);
    names.emplace_back(name(op));
  }
  if (!options.ops.empty()) return;
  throw usage_error(fmt::format("{}: unknown operation '{}'; give one of {}, or all", option, text,
                                join(names, ", ")));
}

void set_factor(Options& options, View option, View text) {
  constexpr std::int64_t kLargestFactor = 1 << 20;
  options.sweep.factor = whole(option, text, 1, kLargestFactor);
}

void set_step(Options& options, View option, View text) {
  options.sweep.step = parse_bytes(option, text);
  if (options.sweep.step == 0) {
    throw usage_error(fmt::format("{}: a step of 0 never ends; give 1 or more", option));
  }
}

void set_json(Options& options, View option, View text) {
  if (!text.ends_with(".json")) {
    throw usage_error(fmt::format("{}: '{}' does not end in .json", option, text));
  }
  options.json_path = text;
}

void set_fault(Options& options, View option, View text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 2) {
    throw usage_error(fmt::format("{}: '{}' is not RANK:INDEX, as in 1:12345", option, text));
  }
  options.inject_fault = Fault{.rank = static_cast<int>(whole(option, parts[0], 0, 1 << 30)),
                               .index = whole(option, parts[1], 0)};
}

void set_ci_width(Options& options, View option, View text) {
  constexpr double kPercent = 100;
  if (text.ends_with('%')) text.remove_suffix(1);
  options.ci_width = parse_number(option, text, 0.01, 50) / kPercent;
}

void set_path(std::string& path, View option, View text) {
  if (text.empty()) throw usage_error(fmt::format("{}: the file's name is empty", option));
  path = text;
}

using O = Options;

constexpr std::array<Choice<Cadence>, 2> kCadences{
    {{"streaming", Cadence::Streaming}, {"isolated", Cadence::Isolated}}};
constexpr std::array kProgress{ProgressChoice::Auto, ProgressChoice::Block, ProgressChoice::Yield};
constexpr std::array kCaches{Cache::Warm, Cache::Rotate};
constexpr std::array kBinds{Bind::Auto, Bind::None, Bind::Core, Bind::Numa};
constexpr std::array kPages{Pages::Huge, Pages::Small};
/// With those that a build may lack: the name is right, and choose_backend reports why it is not
/// there.
constexpr std::array<Choice<View>, 4> kBackends{
    {{"auto", "auto"}, {"nccl", "nccl"}, {"mpi", "mpi"}, {"sim", "sim"}}};
constexpr std::array<Choice<Pairs>, 2> kPairs{{{"off", Pairs::Off}, {"all", Pairs::All}}};
constexpr std::array<Choice<bool>, 2> kHostLimits{{{"auto", true}, {"off", false}}};
constexpr std::array kPlacements{Placement::Both, Placement::In, Placement::Out};

constexpr std::int64_t kMostRanks = 1 << 22;
using topo::Algorithm;
constexpr std::array<Choice<std::optional<Algorithm>>, 5> kAlgorithmChoices{
    {{"auto", std::nullopt},
     {"ring", Algorithm::Ring},
     {"tree", Algorithm::Tree},
     {"hierarchical", Algorithm::Hierarchical},
     {"nvls", Algorithm::Nvls}}};

const std::array<OptionSpec, 52> kSpecs{{
    {"-b,--minbytes", true, [](O& o, View n, View v) { o.sweep.first = positive_size(n, v); }},
    {"-e,--maxbytes", true, [](O& o, View n, View v) { o.sweep.last = positive_size(n, v); }},
    {"-i,--stepbytes", true, set_step},
    {"-f,--stepfactor", true, set_factor},
    {"-n,--iters", true,
     [](O& o, View n, View v) {
       if (v == "auto") {
         o.operations.reset();
       } else {
         o.operations = whole(n, v, 1);
       }
     }},
    {"-w,--warmup_iters", true,
     [](O& o, View n, View v) {
       if (v == "auto") {
         o.warmup_operations.reset();
       } else {
         o.warmup_operations = whole(n, v, 0);
       }
     }},
    {"-m,--agg_iters", true, [](O& o, View n, View v) { o.aggregated = whole(n, v, 1, 1 << 20); }},
    {"-N,--run_cycles", true, [](O& o, View n, View v) { o.cycles = whole(n, v, 0); }},
    {"-a,--average", true,
     [](O& o, View n, View v) { o.aggregation = static_cast<Aggregation>(whole(n, v, 0, 3)); }},
    {"-c,--check", true, [](O& o, View n, View v) { o.checks = whole(n, v, 0, 1000); }},
    {"-o,--op", true, set_ops},
    {"-d,--datatype", true, set_types},
    {"-r,--root", true,
     [](O& o, View n, View v) {
       if (v == "all") {
         o.root.reset();
       } else {
         o.root = static_cast<int>(whole(n, v, 0, 1 << 30));
       }
     }},
    {"-z,--blocking", true,
     [](O& o, View n, View v) { o.blocking = static_cast<Blocking>(whole(n, v, 0, 3)); }},
    {"-S,--report_timestamps", true,
     [](O& o, View n, View v) { o.timestamps = whole(n, v, 0, 1) == 1; }},
    {"-T,--timeout", true, [](O& o, View n, View v) { o.timeout = seconds(n, v, 0); }},
    {"-J,--output_file", true, set_json},
    {"-g,--ngpus", true,
     [](O& o, View n, View v) { o.launch_ranks = static_cast<int>(whole(n, v, 1, 1 << 16)); }},
    {"--backend", true, [](O& o, View n, View v) { o.backend = choose(n, v, kBackends); }},
    {"--csv", true, [](O& o, View n, View v) { set_path(o.csv_path, n, v); }},
    {"--samples", true, [](O& o, View n, View v) { set_path(o.samples_path, n, v); }},
    {"--resume", false, [](O& o, View, View) { o.resume = true; }},
    {"--cadence", true, [](O& o, View n, View v) { o.cadence = choose(n, v, kCadences); }},
    {"--ci-width", true, set_ci_width},
    {"--time-budget", true, [](O& o, View n, View v) { o.time_budget = seconds(n, v, 0.001); }},
    {"--progress", true, [](O& o, View n, View v) { o.progress = choose(n, v, kProgress); }},
    {"--cache", true, [](O& o, View n, View v) { o.cache = choose(n, v, kCaches); }},
    {"--pages", true, [](O& o, View n, View v) { o.pages = choose(n, v, kPages); }},
    {"--bind", true, [](O& o, View n, View v) { o.bind = choose(n, v, kBinds); }},
    {"--memory-limit", true, [](O& o, View n, View v) { o.memory_limit = positive_size(n, v); }},
    {"--placement", true, [](O& o, View n, View v) { o.placement = choose(n, v, kPlacements); }},
    {"--host-limits", true,
     [](O& o, View n, View v) { o.host_limits = choose(n, v, kHostLimits); }},
    {"--seed", true, [](O& o, View n, View v) { o.seed = whole(n, v, 0); }},
    {"--inject-fault", true, set_fault},
    {"-p,--parallel_init", true, [](O&, View n, View v) { (void)whole(n, v, 0, 1); }},
    {"-G,--cudagraph", true,
     [](O& o, View n, View v) { o.graph_launches = whole(n, v, 0, 1 << 20); }},
    {"-R,--local_register", true,
     [](O& o, View n, View v) { o.registration = static_cast<Registration>(whole(n, v, 0, 2)); }},
    {"-x,--cta_policy", true,
     [](O& o, View n, View v) { o.cta_policy = static_cast<int>(whole(n, v, 0, 2)); }},
    {"-C,--report_cputime", true,
     [](O& o, View n, View v) { o.enqueue_times = whole(n, v, 0, 1) == 1; }},
    {"-M,--memory", true, [](O& o, View n, View v) { o.memory_use = whole(n, v, 0, 1) == 1; }},
    {"--nccl-choice", false, [](O& o, View, View) { o.nccl_choice = true; }},
    {"-u,--unalign", true, [](O& o, View n, View v) { o.unalign = whole(n, v, 0, 1 << 20); }},
    {"-I,--per_iter_timing", true,
     [](O& o, View n, View v) { o.per_operation = whole(n, v, 0, 1) == 1; }},
    {"-K,--per_iter_skip", true, [](O& o, View n, View v) { o.skipped_samples = whole(n, v, 0); }},
    {"--devices", true, [](O& o, View n, View v) { o.devices = topo::parse_selection(n, v); }},
    {"--nvidia-smi", true, [](O& o, View, View v) { o.nvidia_smi = v; }},
    {"--share-gpus", false, [](O& o, View, View) { o.share_devices = true; }},
    {"--system", true, [](O& o, View n, View v) { set_path(o.system, n, v); }},
    {"--ranks", true,
     [](O& o, View n, View v) { o.ranks = static_cast<int>(whole(n, v, 1, kMostRanks)); }},
    {"--flows", true,
     [](O& o, View n, View v) { o.flows = static_cast<int>(whole(n, v, 1, kMostRanks)); }},
    {"--algorithm", true,
     [](O& o, View n, View v) { o.algorithm = choose(n, v, kAlgorithmChoices); }},
    {"--pairs", true, [](O& o, View n, View v) { o.pairs = choose(n, v, kPairs); }},
}};

struct Foreign {
  View names;
  View hint;
};

constexpr std::array<Foreign, 4> kForeign{{
    {"-t --nthreads", "a rank is a process here; start more ranks with mpirun -np"},
    {"-y --stream_null", "operations run on a stream of their own"},
    {"-D --device_implementation", "it runs kernels of its own, busbar measures the library's"},
    {"-V --device_cta_count", "it is of -D, which busbar has not"},
}};

}  // namespace

std::span<const OptionSpec> option_specs() { return kSpecs; }

std::string_view foreign_option_hint(std::string_view option) {
  for (const Foreign& foreign : kForeign) {
    for (const std::string& spelled : split(foreign.names, ' ')) {
      if (spelled == option) return foreign.hint;
    }
  }
  return {};
}

}  // namespace busbar
