// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include "base/embedded_text.hpp"
#include "bootstrap/mpi_library.hpp"
#include "harness/mix_spec.hpp"
#include "stats/median_interval.hpp"

namespace busbar {
namespace {

using O = Options;

void check_sweep(const Sweep& sweep) {
  constexpr std::size_t kMostSizes = 100000;
  if (sweep.first > sweep.last) {
    throw usage_error("-b {} is larger than -e {}; give a larger -e", sweep.first, sweep.last);
  }
  if (sweep.factor == 1 && (sweep.last - sweep.first) / sweep.step > kMostSizes) {
    throw usage_error("-i {}: more than {} sizes; give a larger step, or a factor with -f",
                      sweep.step, kMostSizes);
  }
}

void check_outputs(const Options& o) {
  if (o.resume && (o.csv_path.empty() || o.csv_path == "-")) {
    throw usage_error("--resume: missing file to resume, as in --csv results.csv --resume");
  }
  if (o.json_style != JsonStyle::Busbar && o.json_path.empty()) {
    throw usage_error("--json-style {}: missing -J FILE.json", name(o.json_style));
  }
  // Standard output may have several.
  const auto file_of = [](View path) { return path == "-" ? View{} : path; };
  const std::array<std::pair<View, View>, 6> outputs{{{"--csv", o.csv_path},
                                                      {"--samples", o.samples_path},
                                                      {"--per-rank", o.per_rank_path},
                                                      {"-J", o.json_path},
                                                      {"--facts", file_of(o.facts_path)},
                                                      {"--timeline", file_of(o.timeline_path)}}};
  for (const auto& [option, path] : outputs) {
    const auto* const first = find_by(outputs, path, &std::pair<View, View>::second);
    if (path.empty() || first->first == option) continue;
    throw usage_error("{} and {} name the same file, {}; give another", option, first->first, path);
  }
}

void check_groups(const Options& o) {
  if (o.pairs == Pairs::All && o.groups) {
    throw usage_error("--pairs all and --groups are mutually exclusive");
  }
  const bool by_levels = o.groups && o.groups->rule == GroupRule::Levels;
  if (by_levels && o.levels_path.empty()) {
    throw usage_error("--groups {}: missing --levels FILE, where each host is in the fabric",
                      to_text(*o.groups));
  }
  if (!by_levels && !o.levels_path.empty()) {
    throw usage_error("--levels has no effect without --groups levels:K");
  }
}

void check_visits(const Options& o) {
  if (o.visits == 1) {
    if (!o.vary || o.duration || o.backend == "sim") return;
    throw usage_error("--visits 1: values of --vary take turns; give {} visits or more",
                      stats::kFewestVisits);
  }
  constexpr std::size_t kMostVisits = 1000;
  if (o.visits < stats::kFewestVisits || o.visits > kMostVisits) {
    throw usage_error("invalid value '{}' for --visits; expected 1, or {} to {}", o.visits,
                      stats::kFewestVisits, kMostVisits);
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

/// A mix has operations, windows and rows of its own.
void check_mix(const Options& o) {
  if (o.mix.empty()) return;
  refuse_others(o, "--mix",
                "-n,-m,-N,-r,-z,-G,-R,-u,-I,-C,--samples,--duration,--pairs,--groups,--vary,--skew,"
                "--load,--inject-delay,--cache,--cadence,--per-rank,--nccl-choice,-M,--json-style,"
                "--resume");
  const bool one = o.types.size() == 1 && o.ops.size() == 1 && o.placement == Placement::Out;
  if (!one) throw usage_error("--mix: give one -d and one -o, and no --placement but out");
  if (o.visits < kFewestMixVisits) {
    throw usage_error("--mix: --visits {} give no interval; give {} or more", o.visits,
                      kFewestMixVisits);
  }
  if (o.timeout <= Seconds{0}) {
    throw usage_error("--mix needs a timeout, as groups may wait for each other; leave -T 0 out");
  }
}

/// A soak is one row. What would make several, or end or keep it otherwise, is refused.
void check_duration(const Options& o) {
  const bool has_interval = o.interval != Options{}.interval;
  if (!o.duration && (has_interval || !o.timeline_path.empty())) {
    throw usage_error("{} needs --duration, as in --duration 5m",
                      has_interval ? "--interval" : "--timeline");
  }
  if (!o.duration) return;
  if (o.interval > *o.duration) throw usage_error("--interval is longer than --duration");
  if (o.loads_beside()) throw usage_error("--duration and --load beside are mutually exclusive");
  refuse_others(o, "--duration",
                "-n,-N,--vary,--visits,--pairs,-G,-I,--samples,--per-rank,--resume,--groups");
  const bool one = o.sweep.sizes().size() == 1 && o.types.size() == 1 && o.ops.size() == 1 &&
                   o.root && o.placement != Placement::Both;
  if (!one) {
    throw usage_error(
        "--duration measures one row; give one size (-b and -e alike), one -d, -o and -r, and "
        "--placement in or out");
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
    throw usage_error("-K {} skips all of -n {}; give a smaller -K", o.skipped_samples,
                      *o.operations);
  }
  if (o.graph_launches > 0 && waits) {
    throw usage_error("-G: operations inside a graph cannot be waited for; give -z 0 or -z 3");
  }
  if (o.graph_launches > 0 && o.loads_before()) {
    throw usage_error("-G and {} are mutually exclusive: nothing runs between a graph's operations",
                      o.inject_delay ? "--inject-delay" : "--load");
  }
  if (o.graph_launches > 0 && o.per_operation) {
    throw usage_error("-G and -I are mutually exclusive: a graph is timed as a whole");
  }
}

}  // namespace

void apply_environment(Options& options, const std::function<const char*(const char*)>& lookup) {
  std::optional<GroupSpec> split;
  if (const char* text = lookup("NCCL_TESTS_SPLIT")) split = parse_split(text);
  if (const char* mask = lookup("NCCL_TESTS_SPLIT_MASK")) split = parse_split_mask(mask);
  if (split && options.groups && split != options.groups) {
    throw usage_error("--groups {} and NCCL_TESTS_SPLIT, which is {}, are mutually exclusive",
                      to_text(*options.groups), to_text(*split));
  }
  if (split) options.groups = split;
  if (const char* device = lookup("NCCL_TESTS_DEVICE")) {
    options.first_device = static_cast<int>(parse_integer("NCCL_TESTS_DEVICE", device, 0, 1 << 16));
  }
}

namespace {

/// nccl-tests' variables of alltoallv_perf; nothing where none is set.
std::optional<Distribution> distribution_of(const std::function<const char*(const char*)>& lookup) {
  constexpr const char* kMatrix = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE";
  constexpr const char* kScale = "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE";
  constexpr const char* kSpread = "NCCL_TESTS_ALLTOALLV_SPREAD";
  constexpr double kMostScale = 1e9;
  if (const char* path = lookup(kMatrix)) {
    const char* scale = lookup(kScale);
    return parse_skew(kMatrix, fmt::format("{}:{}", name(Skew::Matrix), path),
                      scale == nullptr ? 1 : parse_number(kScale, scale, 0, kMostScale));
  }
  if (const char* spread = lookup(kSpread)) {
    return Distribution{.figure = parse_number(kSpread, spread, 0, 1)};
  }
  return std::nullopt;
}

}  // namespace

void complete_options(Options& options, const Collective& collective,
                      const std::function<const char*(const char*)>& lookup) {
  if (collective.equal_parts) {
    if (!options.distribution) return;
    throw usage_error("{}: {} has equal parts; use alltoallv_perf",
                      options.distribution->skew == Skew::Moe ? "--moe" : "--skew",
                      collective.title);
  }
  const auto variable = distribution_of(lookup);
  if (variable && options.distribution) {
    throw usage_error("--skew {} and NCCL_TESTS_ALLTOALLV_*, which have {}, are mutually exclusive",
                      to_text(*options.distribution), to_text(*variable));
  }
  if (!options.distribution) options.distribution = variable.value_or(Distribution{});
  options.distribution->seed = options.seed;
  const char* summary = lookup("NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY");
  options.traffic_summary = summary != nullptr && to_number<int>(summary).value_or(0) != 0;
}

Options with_own_size(const Options& options, const Collective& collective, int ranks) {
  const Distribution* distribution = options.distribution_of(collective);
  Options sized = options;
  if (!options.mix.empty()) sized.sweep.last = sized.sweep.first;
  if (distribution == nullptr || !distribution->has_own_size()) return sized;
  const Footprint footprint = collective.footprint(
      {.element = info(options.types.front()).size, .ranks = ranks, .distribution = distribution});
  const auto [first, last] = std::pair{options.sweep.first, options.sweep.last};
  const Sweep usual = Options{}.sweep;
  const bool given = first != usual.first || last != usual.last;
  if (given && (first != last || last < footprint.size)) {
    throw usage_error(
        "{} has a size of its own, {} for {}; leave -b and -e out, or give both alike and not less",
        to_text(*distribution), format_bytes(footprint.size), counted(ranks, "rank"));
  }
  sized.sweep.first = sized.sweep.last = std::max<Bytes>(1, footprint.size);
  return sized;
}

void check_applicable(const Options& options, const Backend& backend,
                      const Collective& collective) {
  if (options.pairs == Pairs::All && collective.peers == nullptr) {
    throw usage_error("--pairs: {} has no pairs of ranks; use sendrecv_perf", collective.title);
  }
  const bool devices = backend.has_devices();
  refuse_options(options, devices ? kHost : kDevice,
                 fmt::format("has no effect on the {} backend; use --backend {}, or leave it out",
                             backend.name(), devices ? "mpi" : "nccl"));
}

std::vector<Options> variants_of(const Options& options) {
  if (!options.vary) return {options};
  std::vector<Options> variants;
  for (const std::string& value : options.vary->values) {
    Options variant = options;
    const bool own = value == kDefaultValue || vary_option(variant, options.vary->name, value);
    if (!own) return {options};
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::string numbers_of(int ranks) { return ranks == 1 ? "0" : fmt::format("0 to {}", ranks - 1); }

void check_root(const Options& options, int ranks, int smallest_group) {
  if (!options.root || *options.root < smallest_group) return;
  throw usage_error("-r {}: there {} {}{}; give {} or all", *options.root,
                    smallest_group == 1 ? "is" : "are", counted(smallest_group, "rank"),
                    smallest_group < ranks ? " in a group" : "", numbers_of(smallest_group));
}

void check_options(const Options& options) {
  check_sweep(options.sweep);
  if (options.devices && options.bind == Bind::None) {
    throw usage_error("--devices and --bind none are mutually exclusive");
  }
  check_groups(options);
  check_timing(options);
  check_mix(options);
  check_visits(options);
  check_duration(options);
  if (options.backend != "sim") {
    refuse_options(options, kSimulated,
                   "needs --backend sim; to measure with several ranks use mpirun -np");
    check_starting(options);
  } else if (options.system.empty()) {
    throw usage_error("--backend sim needs --system, as in --system dgx-2 or --system my-box.toml");
  } else {
    refuse_options(options, kMeasured, "has no effect with --backend sim");
  }
  check_outputs(options);
}

CommandLine parse_command_line(std::span<char* const> arguments) {
  CommandLine line;
  Options& options = line.options;
  const Arguments given = parse_options(perf_options(), arguments, options);
  if (given.help) {
    line.print_and_exit = embedded_text(perf_options().help);
  } else if (given.has("--version")) {
    line.print_and_exit = version_text();
  }
  if (line.print_and_exit) return line;
  // nccl-tests: a factor wins over a step; a step alone means no factor.
  if (given.has("-i") && !given.has("-f")) options.sweep.factor = 1;
  if (!given.has("-i")) options.sweep.step = kMiB;
  const bool mixes = !options.mix.empty();
  if (mixes && !given.has("--visits")) options.visits = kMixVisits;
  if ((options.duration || mixes) && !given.has("--placement")) options.placement = Placement::Out;
  constexpr std::uint64_t kTurns = 10;
  const bool measures_turns = options.vary && !options.duration && options.backend != "sim";
  if (measures_turns && !given.has("--visits")) options.visits = kTurns;
  for (const Options& variant : variants_of(options)) check_options(variant);
  return line;
}

std::string version_text() {
  const MpiSupport* mpi = find_mpi();
  return fmt::format("busbar {}\nMPI library: {}\nbackends: {}\n", version(),
                     mpi == nullptr ? "none (built with MPI=0)" : mpi->library().name,
                     names_in_this_build());
}

}  // namespace busbar
