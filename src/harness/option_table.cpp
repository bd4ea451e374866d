// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

namespace busbar {
namespace {

using O = Options;

constexpr std::int64_t kMost = 1 << 20;  // of small numbers
constexpr std::int64_t kMostRanks = 1 << 22;

Seconds seconds(View option, View text, double low) {
  constexpr double kLongest = 1e7;
  return Seconds{parse_number(option, text, low, kLongest)};
}

std::string_view type_name(DataType type) { return info(type).name; }
std::string_view op_name(ReduceOp op) { return name(op); }

/// One of the values by its name, or "all" of them.
template <class Values, class NameOf>
auto parse_one_or_all(View option, View text, const Values& values, NameOf name_of) {
  auto names = mapped<std::string>(values, name_of);
  names.emplace_back("all");
  const std::size_t wanted = parse_choice(option, text, names);
  if (wanted == values.size()) return std::vector(values.begin(), values.end());
  return std::vector{values[wanted]};
}

void set_types(O& options, View option, View text) {
  options.types = parse_one_or_all(option, text, mapped(kTypes, &TypeInfo::type), type_name);
}

void set_ops(O& options, View option, View text) {
  constexpr std::array kOps{ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min,
                            ReduceOp::Avg};
  options.ops = parse_one_or_all(option, text, kOps, op_name);
}

void set_root(O& options, View option, View text) {
  options.root.reset();
  if (text != "all") set::integer<&O::root, 0, 1 << 30>(options, option, text);
}

void set_json(O& options, View option, View text) {
  if (!text.ends_with(".json")) {
    throw usage_error("{}: the name of '{}' must end in .json", option, text);
  }
  options.json_path = text;
}

/// "3:200": a rank, and a number as a text.
std::pair<int, std::string> parse_of_rank(View option, View text, View expected) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() == 2) {
    return {static_cast<int>(parse_integer(option, parts[0], 0, 1 << 30)), parts[1]};
  }
  throw usage_error("invalid value '{}' for {}; expected {}", text, option, expected);
}

void set_fault(O& options, View option, View text) {
  const auto [rank, index] = parse_of_rank(option, text, "RANK:INDEX, as in 1:12345");
  constexpr std::int64_t kMostIndex = std::numeric_limits<std::int64_t>::max();
  options.inject_fault = {
      .rank = rank,
      .index = static_cast<std::uint64_t>(parse_integer(option, index, 0, kMostIndex))};
}

constexpr double kMicrosecond = 1e-6;
constexpr double kLongestLoad = 1e7;  // us

void set_delay(O& options, View option, View text) {
  const auto [rank, us] = parse_of_rank(option, text, "RANK:US, as in 3:200");
  options.inject_delay = {
      .rank = rank, .time = kMicrosecond * Seconds{parse_number(option, us, 0.1, kLongestLoad)}};
}

void set_load(O& options, View option, View text) {
  constexpr double kLongestPass = 1e4;  // us; a load that is stopped ends its pass
  Load load{.beside = text.starts_with("beside:")};
  const std::vector<std::string> parts =
      split(load.beside ? text.substr(text.find(':') + 1) : text, ':');
  const bool copies = parts.size() == 2 && parts[0] == "copy";
  const bool spins = parts.size() == 2 && parts[0] == "spin";
  if (!copies && !spins) {
    throw usage_error(
        "invalid value '{}' for {}; expected copy:SIZE or spin:US, as in copy:64M, or that behind "
        "beside:",
        text, option);
  }
  if (copies) load.copy = parse_positive_bytes(option, parts[1]);
  if (spins) {
    load.spin = kMicrosecond * Seconds{parse_number(option, parts[1], 0.1,
                                                    load.beside ? kLongestPass : kLongestLoad)};
  }
  options.load = load;
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

void set_variable(O& options, View option, View text) {
  const std::size_t equals = text.find('=');
  if (equals == View::npos || equals == 0) {
    throw usage_error("invalid value '{}' for {}; expected NAME=VALUE, as in NCCL_ALGO=Ring", text,
                      option);
  }
  const std::string name(text.substr(0, equals));
  std::erase_if(options.variables, [&](const auto& variable) { return variable.first == name; });
  options.variables.emplace_back(name, text.substr(equals + 1));
}

// ---- settings as text ---------------------------------------------------------------------------

using TextOf = std::string (*)(const O& options);

/// What depends on an option, and its value as text. No row of the table can leave it out.
struct Effect {
  std::string_view key;  ///< in the configuration of files; empty: no row depends on it
  TextOf value;          ///< in files; "on" and "off" of a flag, "none" of what is not there
  TextOf words;          ///< as on a command line; null: the option's name and the value
  bool of_ranks;         ///< ranks must agree
  unsigned scope = 0;    ///< bits, kSimulated and others; 0: for every run

  /// The same for an option that only these runs have a use for.
  [[nodiscard]] constexpr Effect only(unsigned runs) const {
    return {key, value, words, of_ranks, runs};
  }
};
/// Rows depend on it: --resume refuses a file of another value.
constexpr Effect rows(std::string_view key, TextOf value, TextOf words = nullptr) {
  return {key, value, words, true};
}
/// All ranks must agree, but rows are the same.
constexpr Effect ranks(TextOf value, TextOf words = nullptr) { return {{}, value, words, true}; }
/// Each rank may have its own, as it may of outputs. A scope needs the value.
constexpr Effect nothing(TextOf value = nullptr) { return {{}, value, nullptr, false}; }

struct RunOption {
  Option<O> option;
  Effect effect;
};

/// A member as text.
template <auto Member>
std::string shown(const O& options) {
  const auto& value = options.*Member;
  using Value = set::ValueOf<Member>;
  if constexpr (!std::is_same_v<Value, std::remove_cvref_t<decltype(value)>>) {
    if (!value) return "auto";
    if constexpr (NamedEnum<Value>) {
      return std::string(name(*value));
    } else {
      return fmt::format("{}", *value);
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "on" : "off";
  } else if constexpr (NamedEnum<Value>) {
    return std::string(name(value));
  } else if constexpr (std::is_enum_v<Value>) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

/// Of an output that all ranks bring something to: whether it is given.
template <auto Member>
std::string wanted(const O& options) {
  return (options.*Member).empty() ? "none" : "on";
}

/// "64KiB", "100000": in the largest unit of which it is a whole number.
std::string size_text(Bytes bytes) {
  constexpr std::array<std::pair<Bytes, std::string_view>, 3> kUnits{
      {{kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes > 0 && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, name);
  }
  return fmt::format("{}", bytes);
}

/// "copy:64MiB", "beside:spin:200".
std::string load_text(const std::optional<Load>& load) {
  if (!load) return "none";
  const char* how = load->beside ? "beside:" : "";
  if (load->copy > 0) return fmt::format("{}copy:{}", how, size_text(load->copy));
  return fmt::format("{}spin:{:g}", how, microseconds(load->spin));
}

std::string size_words(std::string_view option, Bytes bytes) {
  return fmt::format("{} {}", option, size_text(bytes));
}

/// A list that has one value, or all.
template <class Values, class NameOf>
std::string one_or_all(const Values& values, NameOf name_of) {
  return std::string(values.size() == 1 ? name_of(values[0]) : "all");
}

constexpr auto kRows = std::to_array<RunOption>({
    {{"--backend", "NAME", set_backend}, ranks([](const O& o) { return o.backend; })},
    {{"-b,--minbytes", "SIZE",
      [](O& o, View n, View v) { o.sweep.first = parse_positive_bytes(n, v); }},
     rows(
         "sizes", [](const O& o) { return sweep_text(o.sweep); },
         [](const O& o) { return size_words("-b", o.sweep.first); })},
    {{"-e,--maxbytes", "SIZE",
      [](O& o, View n, View v) { o.sweep.last = parse_positive_bytes(n, v); }},
     ranks([](const O& o) { return size_text(o.sweep.last); })},
    {{"-f,--stepfactor", "N",
      [](O& o, View n, View v) {
        o.sweep.factor = static_cast<std::uint64_t>(parse_integer(n, v, 1, kMost));
      }},
     ranks([](const O& o) { return fmt::format("{}", o.sweep.factor); },
           [](const O& o) {
             return o.sweep.factor > 1 ? fmt::format("-f {}", o.sweep.factor)
                                       : size_words("-i", o.sweep.step);
           })},
    {{"-i,--stepbytes", "SIZE",
      [](O& o, View n, View v) { o.sweep.step = parse_positive_bytes(n, v); }},
     nothing()},
    {{"-d,--datatype", "TYPE", set_types},
     rows(
         "types", [](const O& o) { return join_each(o.types, "+", type_name); },
         [](const O& o) { return "-d " + one_or_all(o.types, type_name); })},
    {{"-o,--op", "OP", set_ops},
     rows(
         "ops", [](const O& o) { return join_each(o.ops, "+", op_name); },
         [](const O& o) { return "-o " + one_or_all(o.ops, op_name); })},
    {{"-r,--root", "RANK", set_root},
     rows("root", [](const O& o) { return o.root ? fmt::format("{}", *o.root) : "all"; })},
    {{"--placement", "WHICH", set::value<&O::placement>}, rows("placement", shown<&O::placement>)},
    {{"-n,--iters", "N", set::integer_or_auto<&O::operations, 1>},
     rows("operations", shown<&O::operations>)},
    {{"-w,--warmup_iters", "N", set::integer_or_auto<&O::warmup_operations, 0>},
     rows("warmup", shown<&O::warmup_operations>)},
    {{"-m,--agg_iters", "N", set::integer<&O::aggregated, 1, kMost>},
     rows("aggregated", shown<&O::aggregated>)},
    {{"-N,--run_cycles", "N", set::integer<&O::cycles, 0>}, rows("cycles", shown<&O::cycles>)},
    {{"--vary", "NAME=a,b", [](O& o, View n, View v) { o.vary = parse_vary(n, v); }},
     rows("vary", [](const O& o) { return o.vary ? to_text(*o.vary) : "none"; }).only(kMeasured)},
    {{"--visits", "N", set::integer<&O::visits, 0>},
     rows("visits", shown<&O::visits>).only(kMeasured)},
    {{"--duration", "TIME", [](O& o, View n, View v) { o.duration = parse_duration(n, v, 1); }},
     rows(
         "duration",
         [](const O& o) { return o.duration ? fmt::format("{:g}s", o.duration->count()) : "none"; })
         .only(kMeasured)},
    {{"--interval", "TIME", [](O& o, View n, View v) { o.interval = parse_duration(n, v, 0.1); }},
     ranks([](const O& o) { return fmt::format("{:g}s", o.interval.count()); }).only(kMeasured)},
    {{"-a,--average", "N", set::integer<&O::aggregation, 0, 3>},
     rows(
         "aggregation", [](const O& o) { return std::string(name(o.aggregation)); },
         [](const O& o) { return fmt::format("-a {}", static_cast<int>(o.aggregation)); })},
    {{"-c,--check", "N", set::integer<&O::checks, 0, 1000>}, rows("checks", shown<&O::checks>)},
    {{"-z,--blocking", "N", set::integer<&O::blocking, 0, 3>},
     rows("blocking", shown<&O::blocking>)},
    {{"--cadence", "HOW", set::value<&O::cadence>}, rows("cadence", shown<&O::cadence>)},
    {{"--ci-width", "PERCENT", set_ci_width},
     rows("ci-width", shown<&O::ci_width>,
          [](const O& o) { return fmt::format("--ci-width {:g}", o.ci_width * 100); })},
    {{"--time-budget", "SECONDS",
      [](O& o, View n, View v) { o.time_budget = seconds(n, v, 0.001); }},
     rows("time-budget", [](const O& o) { return fmt::format("{}", o.time_budget.count()); })},
    {{"--progress", "HOW", set::value<&O::progress>}, rows("progress", shown<&O::progress>)},
    {{"--cache", "HOW", set::value<&O::cache>}, rows("cache", shown<&O::cache>)},
    {{"--pages", "SIZE", set::value<&O::pages>}, rows("pages", shown<&O::pages>).only(kHost)},
    {{"--bind", "WHAT", set::value<&O::bind>}, rows("bind", shown<&O::bind>)},
    // Each host may have a list of its own.
    {{"--devices", "WHICH", [](O& o, View n, View v) { o.devices = topo::parse_selection(n, v); }},
     rows(
         "devices", [](const O& o) { return o.devices ? to_text(*o.devices) : "free"; },
         [](const O& o) { return std::string(o.devices ? "--devices" : "no --devices"); })},
    {{"--seed", "N", set::integer<&O::seed, 0>}, rows("seed", shown<&O::seed>)},
    {{"-G,--cudagraph", "N", set::integer<&O::graph_launches, 0, kMost>},
     rows("graph", shown<&O::graph_launches>).only(kMeasured | kDevice)},
    {{"-R,--local_register", "N", set::integer<&O::registration, 0, 2>},
     rows("registration", shown<&O::registration>).only(kDevice)},
    {{"-x,--cta_policy", "N", set::integer<&O::cta_policy, 0, 2>},
     rows("cta-policy", shown<&O::cta_policy>,
          [](const O& o) { return o.cta_policy ? fmt::format("-x {}", *o.cta_policy) : "no -x"; })
         .only(kDevice)},
    {{"-u,--unalign", "N", set::integer<&O::unalign, 0, kMost>},
     rows("unalign", shown<&O::unalign>)},
    {{"--pairs", "all", set::value<&O::pairs>}, rows("pairs", shown<&O::pairs>).only(kMeasured)},
    {{"--groups", "SPEC|FILE", [](O& o, View n, View v) { o.groups = parse_group_spec(n, v); }},
     rows("groups", [](const O& o) { return o.groups ? to_text(*o.groups) : "none"; })
         .only(kMeasured)},
    {{"--levels", "FILE", set::file<&O::levels_path>},
     rows("levels", [](const O& o) { return o.levels_path.empty() ? "none" : o.levels_path; })
         .only(kMeasured)},
    {{"--mix", "FILE|PRESET", set::file<&O::mix>},
     rows("mix", [](const O& o) { return o.mix.empty() ? "none" : o.mix; }).only(kMeasured)},
    {{"--share-gpus", "", set::value<&O::share_devices>},
     rows("share-gpus", shown<&O::share_devices>).only(kDevice)},
    {{"--host-limits", "HOW", set_host_limits},
     rows("host-limits", [](const O& o) { return std::string(o.host_limits ? "auto" : "off"); })},
    {{"--memory-limit", "SIZE",
      [](O& o, View n, View v) { o.memory_limit = parse_positive_bytes(n, v); }},
     rows("memory-limit",
          [](const O& o) { return o.memory_limit ? size_text(*o.memory_limit) : "none"; })},
    {{"--load", "[beside:]copy:SIZE|spin:US", set_load},
     rows("load", [](const O& o) { return load_text(o.load); }).only(kMeasured)},
    {{"--inject-delay", "RANK:US", set_delay},
     rows("inject-delay",
          [](const O& o) {
            return o.inject_delay ? fmt::format("{}:{:g}", o.inject_delay->rank,
                                                microseconds(o.inject_delay->time))
                                  : "none";
          })
         .only(kMeasured)},
    {{"--skew", "HOW", [](O& o, View n, View v) { o.distribution = parse_skew(n, v); }},
     rows("distribution",
          [](const O& o) { return o.distribution ? to_text(*o.distribution) : "none"; })},
    {{"--moe", "TOKENS,HIDDEN,TOPK,EXPERTS[,zipf:S]",
      [](O& o, View n, View v) { o.distribution = parse_experts(n, v); }},
     nothing()},
    // The ranks of each host may have a variable of their own.
    {{"NCCL_TESTS_DEVICE", "", nullptr},
     rows("first-device", shown<&O::first_device>, [](const O&) { return std::string(); })},
    {{"--nccl-choice", "", set::value<&O::nccl_choice>},
     ranks(shown<&O::nccl_choice>).only(kMeasured | kDevice)},
    {{"-M,--memory", "1", set::integer<&O::memory_use, 0, 1>},
     ranks(shown<&O::memory_use>, [](const O& o) { return fmt::format("-M {:d}", o.memory_use); })
         .only(kMeasured | kDevice)},
    {{"--inject-fault", "RANK:INDEX", set_fault},
     ranks([](const O& o) {
       return o.inject_fault ? fmt::format("{}:{}", o.inject_fault->rank, o.inject_fault->index)
                             : "none";
     }).only(kMeasured)},
    {{"-T,--timeout", "SECONDS", [](O& o, View n, View v) { o.timeout = seconds(n, v, 0); }},
     ranks([](const O& o) { return fmt::format("{:g}", o.timeout.count()); })},
    {{"-S,--report_timestamps", "1", set::integer<&O::timestamps, 0, 1>}, nothing()},
    {{"-J,--output_file", "FILE", set_json}, nothing()},
    {{"-g,--ngpus", "N", set::integer<&O::launch_ranks, 1, 1 << 16>},
     nothing(shown<&O::launch_ranks>).only(kMeasured)},
    {{"--hosts,--nodes", "a,b,c|N", [](O& o, View, View v) { o.hosts = split(v, ','); }},
     nothing()},
    {{"--launcher", "NAME", set::value<&O::launcher>}, nothing()},
    {{"--env", "NAME=VALUE", set_variable}, ranks([](const O& o) {
       const auto text = [](const auto& each) { return each.first + "=" + each.second; };
       return o.variables.empty() ? "none" : join_each(o.variables, " ", text);
     })},
    {{"--rendezvous", "HOST:PORT", set::value<&O::rendezvous>},
     nothing(shown<&O::rendezvous>).only(kMeasured)},
    {{"--rank", "N", set::integer<&O::rank, 0, kMostRanks>},
     nothing(shown<&O::rank>).only(kMeasured)},
    {{"--csv", "FILE", set::file<&O::csv_path>}, nothing()},
    {{"--json-style", "STYLE", set::value<&O::json_style>}, ranks(shown<&O::json_style>)},
    {{"--samples", "FILE", set::file<&O::samples_path>},
     nothing(shown<&O::samples_path>).only(kMeasured)},
    {{"--per-rank", "FILE", set::file<&O::per_rank_path>},
     ranks(wanted<&O::per_rank_path>).only(kMeasured)},
    {{"--facts", "FILE", set::file<&O::facts_path>}, ranks(wanted<&O::facts_path>).only(kMeasured)},
    {{"--timeline", "FILE", set::file<&O::timeline_path>},
     nothing(shown<&O::timeline_path>).only(kMeasured)},
    {{"--resume", "", set::value<&O::resume>}, nothing(shown<&O::resume>).only(kMeasured)},
    {{"-p,--parallel_init", "N", [](O&, View n, View v) { (void)parse_integer(n, v, 0, 1); }},
     nothing()},
    {{"-C,--report_cputime", "1", set::integer<&O::enqueue_times, 0, 1>},
     nothing(shown<&O::enqueue_times>).only(kMeasured)},
    {{"-I,--per_iter_timing", "1", set::integer<&O::per_operation, 0, 1>},
     nothing(shown<&O::per_operation>).only(kMeasured)},
    {{"-K,--per_iter_skip", "N", set::integer<&O::skipped_samples, 0>}, nothing()},
    {{"--nvidia-smi", "PATH", set::value<&O::nvidia_smi>},
     nothing(shown<&O::nvidia_smi>).only(kDevice)},
    {{"--system", "NAME|FILE|auto", set::file<&O::system>},
     nothing(shown<&O::system>).only(kSimulated)},
    {{"--ranks", "N", set::integer<&O::ranks, 1, kMostRanks>}, nothing()},
    {{"--nic", "[COUNTx]GBPS", [](O& o, View n, View v) { o.network = topo::parse_network(n, v); }},
     nothing([](const O& o) { return std::string(o.network ? "given" : ""); }).only(kSimulated)},
    {{"--flows", "N", set::integer<&O::flows, 1, kMostRanks>},
     nothing(shown<&O::flows>).only(kSimulated)},
    {{"--algorithm", "NAME", set_algorithm}, nothing(shown<&O::algorithm>).only(kSimulated)},
    {{"--version", "", [](O&, View, View) {}}, nothing()},
});

std::string_view first_name(const RunOption& row) {
  return row.option.names.substr(0, row.option.names.find(','));
}

bool is_given(const RunOption& row, const Options& options) {
  return row.effect.value(options) != row.effect.value(Options{});
}

/// "-n 5", "--share-gpus", "no -T".
std::string words_of(const RunOption& row, const O& options) {
  if (row.effect.words != nullptr) return row.effect.words(options);
  const std::string value = row.effect.value(options);
  const bool is_off = value == "none" || (value == "off" && row.option.argument.empty());
  if (is_off && !is_given(row, options)) return fmt::format("no {}", first_name(row));
  if (value == "on") return std::string(first_name(row));
  return fmt::format("{} {}", first_name(row), value);
}

/// The rows that stand on command lines: all but variables of the environment.
constexpr auto kIsOption = [](const RunOption& row) { return row.option.names.starts_with('-'); };
constexpr auto kOptions = [] {
  std::array<Option<O>, static_cast<std::size_t>(std::ranges::count_if(kRows, kIsOption))>
      options{};
  std::size_t count = 0;
  for (const RunOption& row : kRows) {
    if (kIsOption(row)) options[count++] = row.option;
  }
  return options;
}();

constexpr auto kForeign = std::to_array<ForeignOption>({
    {"-t,--nthreads", "a rank is a process here; start more ranks with mpirun -np"},
    {"-y,--stream_null", "operations always run on their own stream"},
    {"-D,--device_implementation", "it runs its own kernels; busbar measures the library's"},
    {"-V,--device_cta_count", "only meaningful with -D, which busbar does not support"},
});
constexpr std::array<std::string_view, 1> kExclusive{"--skew,--moe"};
constexpr CommandLineTable<O> kTable{{.help = "docs/options.md",
                                      .most_positionals = 0,
                                      .exclusive = kExclusive,
                                      .foreign = kForeign},
                                     kOptions};

}  // namespace

const CommandLineTable<Options>& perf_options() { return kTable; }

std::vector<std::string> configuration_of(const Options& options) {
  std::vector<std::string> texts;
  for (const RunOption& row : kRows) {
    if (row.effect.key.empty()) continue;
    texts.push_back(fmt::format("{}={}", row.effect.key, row.effect.value(options)));
    std::ranges::replace(texts.back(), ' ', '_');  // blanks divide the parts
  }
  return texts;
}

std::vector<std::string> agreed_words(const Options& options) {
  std::vector<std::string> all;
  for (const RunOption& row : kRows) {
    if (row.effect.of_ranks) add_new(all, words_of(row, options));
  }
  return all;
}

bool vary_option(Options& options, std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 5> kVaried{"cadence", "blocking", "agg_iters", "cudagraph",
                                                    "inject-delay"};
  if (std::ranges::find(kVaried, name) == kVaried.end()) return false;
  const std::string option = fmt::format("--{}", name);
  const auto* const row = std::ranges::find_if(
      kRows, [&](const RunOption& each) { return each.option.names.ends_with(option); });
  row->option.set(options, option, value);
  return true;
}

void refuse_options(const Options& options, unsigned scope, std::string_view problem) {
  for (const RunOption& row : kRows) {
    if ((row.effect.scope & scope) != 0 && is_given(row, options)) {
      throw usage_error("{} {}", first_name(row), problem);
    }
  }
}

void refuse_others(const Options& options, View option, View others) {
  for (const std::string& other : split(others, ',')) {
    if (is_given(*std::ranges::find(kRows, other, first_name), options)) {
      throw usage_error("{} and {} are mutually exclusive", option, other);
    }
  }
}

}  // namespace busbar
