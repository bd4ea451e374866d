// SPDX-License-Identifier: BSD-3-Clause
#include "harness/option_checks.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

using View = std::string_view;

void refuse_shared_file(View option, const std::string& path, View other,
                        const std::string& taken) {
  if (path.empty() || path != taken) return;
  throw usage_error(
      fmt::format("{}: {} is the file of {} already; give another", option, path, other));
}

/// Options that contradict each other.
void check_device_options(const Options& o) {
  if (o.skipped_samples > 0 && !o.per_operation) {
    throw usage_error("-K: it shortens what -I reports; give -I 1 too");
  }
  if (o.operations && o.skipped_samples >= *o.operations && o.skipped_samples > 0) {
    throw usage_error(fmt::format("-K {}: of {} operations (-n) none would be left",
                                  o.skipped_samples, *o.operations));
  }
  if (o.graph_launches > 0 &&
      (o.blocking == Blocking::WaitAndBarrier || o.blocking == Blocking::Wait)) {
    throw usage_error("-G: nothing can wait inside a graph; give -z 0 or -z 3");
  }
  if (o.graph_launches > 0 && o.per_operation) {
    throw usage_error("-I: a graph is timed as a whole; leave -G or -I out");
  }
  if (o.pairs == Pairs::All && o.split) {
    throw usage_error("--pairs all: it measures all ranks; unset NCCL_TESTS_SPLIT");
  }
}

/// Options of a simulation without one.
void refuse_simulated(const Options& o) {
  for (const auto& [given, option] :
       {std::pair{!o.system.empty(), "--system"}, std::pair{o.ranks.has_value(), "--ranks"},
        std::pair{o.flows.has_value(), "--flows"},
        std::pair{o.algorithm.has_value(), "--algorithm"}}) {
    if (!given) continue;
    throw usage_error(
        fmt::format("{}: only a simulation takes it; give --backend sim too, or "
                    "start ranks with mpirun -np",
                    option));
  }
}

/// Options of a measurement in a simulation: what would be told of something that never ran.
void check_simulation(const Options& o) {
  if (o.backend != "sim") return refuse_simulated(o);
  if (o.system.empty()) {
    throw usage_error(
        "--backend sim: name the machine, as in --system dgx-2 or --system my-box.toml");
  }
  for (const auto& [given, option] :
       {std::pair{!o.samples_path.empty(), "--samples"}, std::pair{o.resume, "--resume"},
        std::pair{o.inject_fault.has_value(), "--inject-fault"},
        std::pair{o.pairs == Pairs::All, "--pairs"}, std::pair{o.launch_ranks > 1, "-g"},
        std::pair{o.split.has_value(), "NCCL_TESTS_SPLIT"}, std::pair{o.per_operation, "-I"},
        std::pair{o.enqueue_times, "-C"}, std::pair{o.memory_use, "-M"},
        std::pair{o.nccl_choice, "--nccl-choice"}, std::pair{o.graph_launches > 0, "-G"}}) {
    if (!given) continue;
    throw usage_error(
        fmt::format("{}: a simulation (--backend sim) runs nothing that it could be of; leave it "
                    "out",
                    option));
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

void check_applicable(const Options& o, const Backend& backend, const Collective& collective) {
  if (o.pairs == Pairs::All && collective.peers == nullptr) {
    throw usage_error(
        fmt::format("--pairs: {} has no pairs of ranks; use sendrecv_perf", collective.title));
  }
  if (backend.has_devices()) {
    if (o.pages == Options{}.pages) return;
    throw usage_error(fmt::format(
        "--pages: buffers are GPU memory on the {} backend; use --backend mpi, or leave "
        "it out",
        backend.name()));
  }
  struct Need {
    bool given;
    View option;
    View why;
  };
  for (const Need& need :
       {Need{o.graph_launches > 0, "-G", "there are no CUDA graphs"},
        Need{o.registration != Registration::None, "-R", "there is no buffer registration"},
        Need{o.cta_policy.has_value(), "-x", "there are no CTAs"},
        Need{o.memory_use, "-M", "there is no GPU memory, and the memory plan is in the header"},
        Need{o.nccl_choice, "--nccl-choice", "there is no NCCL"},
        Need{o.devices && o.devices->policy == topo::Policy::Median, "--devices median",
             "cores have no order"},
        Need{o.nvidia_smi != Options{}.nvidia_smi, "--nvidia-smi", "there are no GPUs"},
        Need{o.share_devices, "--share-gpus", "there are no GPUs"}}) {
    if (!need.given) continue;
    throw usage_error(fmt::format("{}: {} on the {} backend; use --backend nccl, or leave it out",
                                  need.option, need.why, backend.name()));
  }
}

void check_options(const Options& options) {
  constexpr std::size_t kMostSizes = 100000;
  const Sweep& sweep = options.sweep;
  if (sweep.first > sweep.last) {
    throw usage_error(
        fmt::format("-b {} is larger than -e {}: give a larger -e", sweep.first, sweep.last));
  }
  if (sweep.factor == 1 && (sweep.last - sweep.first) / sweep.step > kMostSizes) {
    throw usage_error(
        fmt::format("-i {}: more than {} sizes; give a larger step, or a factor with -f",
                    sweep.step, kMostSizes));
  }
  if (options.devices && options.bind == Bind::None) {
    throw usage_error(
        "--devices says where ranks run and --bind none that it does not matter; leave one out");
  }
  if (options.resume && options.csv_path.empty()) {
    throw usage_error("--resume: name the file to go on with, as in --csv results.csv --resume");
  }
  if (options.resume && options.csv_path == "-") {
    throw usage_error(
        "--resume: nothing goes on with --csv -, which is standard output; name a file");
  }
  check_device_options(options);
  check_simulation(options);
  refuse_shared_file("--samples", options.samples_path, "--csv", options.csv_path);
  refuse_shared_file("-J", options.json_path, "--csv", options.csv_path);
  refuse_shared_file("-J", options.json_path, "--samples", options.samples_path);
}

}  // namespace busbar
