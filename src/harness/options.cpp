// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include <array>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

template <class T>
std::string or_auto(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

std::string names_of(const std::vector<DataType>& types) {
  std::vector<std::string> names;
  names.reserve(types.size());
  for (const DataType type : types) names.emplace_back(info(type).name);
  return join(names, "+");
}

std::string names_of(const std::vector<ReduceOp>& ops) {
  std::vector<std::string> names;
  names.reserve(ops.size());
  for (const ReduceOp op : ops) names.emplace_back(name(op));
  return join(names, "+");
}

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
                                        LimitedOption{"--ranks", differs<&O::ranks>},
                                        LimitedOption{"--flows", differs<&O::flows>},
                                        LimitedOption{"--algorithm", differs<&O::algorithm>}};
/// They concern operations that run; a simulation runs none.
constexpr std::array kMeasurementOptions{
    LimitedOption{"--samples", differs<&O::samples_path>},
    LimitedOption{"--resume", differs<&O::resume>},
    LimitedOption{"--inject-fault", [](const O& o) { return o.inject_fault.has_value(); }},
    LimitedOption{"--pairs", differs<&O::pairs>},
    LimitedOption{"-g", differs<&O::launch_ranks>},
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

std::vector<std::string> configuration_words(const Options& o) {
  return {
      "sizes=" + sweep_text(o.sweep),
      fmt::format("types={}", names_of(o.types)),
      fmt::format("ops={}", names_of(o.ops)),
      fmt::format("root={}", o.root ? fmt::format("{}", *o.root) : "all"),
      fmt::format("placement={}", name(o.placement)),
      fmt::format("operations={}", or_auto(o.operations)),
      fmt::format("warmup={}", or_auto(o.warmup_operations)),
      fmt::format("aggregated={}", o.aggregated),
      fmt::format("cycles={}", o.cycles),
      fmt::format("aggregation={}", name(o.aggregation)),
      fmt::format("checks={}", o.checks),
      fmt::format("blocking={}", static_cast<int>(o.blocking)),
      fmt::format("cadence={}", name(o.cadence)),
      fmt::format("ci-width={}", o.ci_width),
      fmt::format("time-budget={}", o.time_budget.count()),
      fmt::format("progress={}", name(o.progress)),
      fmt::format("cache={}", name(o.cache)),
      fmt::format("pages={}", name(o.pages)),
      fmt::format("bind={}", name(o.bind)),
      fmt::format("devices={}", o.devices ? to_text(*o.devices) : "free"),
      fmt::format("seed={}", o.seed),
      fmt::format("graph={}", o.graph_launches),
      fmt::format("registration={}", static_cast<int>(o.registration)),
      fmt::format("cta-policy={}", or_auto(o.cta_policy)),
      fmt::format("unalign={}", o.unalign),
      fmt::format("pairs={}", o.pairs == Pairs::All ? "all" : "off"),
      fmt::format("split={}",
                  o.split ? fmt::format("{}:{}", static_cast<int>(o.split->rule), o.split->operand)
                          : "none"),
  };
}

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
  if (options.backend != "sim") {
    refuse(kSimulationOptions, options,
           "needs --backend sim; to measure with several ranks use mpirun -np");
  } else if (options.system.empty()) {
    throw usage_error("--backend sim needs --system, as in --system dgx-2 or --system my-box.toml");
  } else {
    refuse(kMeasurementOptions, options, "has no effect with --backend sim");
  }
  check_outputs(options);
}

}  // namespace busbar
