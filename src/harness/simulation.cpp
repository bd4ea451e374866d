// SPDX-License-Identifier: BSD-3-Clause
#include "harness/simulation.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/solo_bootstrap.hpp"
#include "harness/host.hpp"
#include "harness/outputs.hpp"
#include "harness/row_result.hpp"
#include "harness/simulation_context.hpp"

namespace busbar {
namespace {

void check_launcher() {
  const auto launcher = find_launcher();
  if (!launcher || launcher->size == 1) return;
  throw usage_error(fmt::format(
      "--backend sim: one process foresees all ranks, and {} has started several; start it without",
      launcher->name));
}

topo::Predictor make_predictor(const Options& options) {
  const topo::EqualHosts machine = topo::load_machine(options.system);
  const topo::Cluster cluster(machine);
  const int all = static_cast<int>(cluster.devices());
  const bool list = options.devices && options.devices->policy == topo::Policy::List;
  const int usual = list ? static_cast<int>(options.devices->devices.size()) : all;
  return topo::Predictor(machine, {.ranks = options.ranks.value_or(usual),
                                   .devices = options.devices.value_or(topo::Selection{}),
                                   .flows = options.flows,
                                   .algorithm = options.algorithm});
}

/// Rows of one run, in the order of a measured one.
class Simulation {
 public:
  Simulation(const Options& options, const Collective& collective, const topo::Predictor& predictor,
             Outputs& outputs)
      : options_(options), collective_(collective), predictor_(predictor), outputs_(outputs) {}

  void run() {
    const std::vector<ReduceOp> ops =
        collective_.reduces ? options_.ops : std::vector<ReduceOp>{ReduceOp::None};
    for (const DataType type : options_.types) {
      for (const ReduceOp op : ops) {
        for (const int root : roots()) {
          bound_ = predictor_.bound_GBps(collective_, root);
          for (const Bytes size : options_.sweep.sizes()) write_size(type, op, root, size);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::vector<int> roots() const {
    if (!collective_.rooted) return {0};
    if (options_.root) return {*options_.root};
    std::vector<int> all(static_cast<std::size_t>(predictor_.set().ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void write_size(DataType type, ReduceOp op, int root, Bytes size) {
    for (const bool in_place : {false, true}) {
      if (options_.placement == (in_place ? Placement::Out : Placement::In)) continue;
      Record record = blank(type, op, size, in_place);
      if (collective_.rooted) record.root = root;
      foresee(record, root);
      outputs_.write(record, {});
    }
  }

  [[nodiscard]] Record blank(DataType type, ReduceOp op, Bytes size, bool in_place) const {
    const int ranks = predictor_.set().ranks;
    const Footprint footprint = collective_.footprint(size, info(type).size, ranks);
    return {.collective = std::string(collective_.name),
            .backend = "sim",
            .ranks = ranks,
            .nodes = static_cast<int>(predictor_.set().parts.size()),
            .type = std::string(info(type).name),
            .op = std::string(name(op)),
            .in_place = in_place,
            .size = footprint.count > 0 ? footprint.size : size,
            .count = footprint.count,
            .flags = "simulated",
            .finished_at = local_time(),
            .device_set = predictor_.set().words()};
  }

  void foresee(Record& record, int root) const {
    const auto skip = [&](const std::string& reason) {
      record.status = RowStatus::Skipped;
      record.reason = reason;
    };
    if (record.ranks < 2) return skip("one rank exchanges nothing");
    if (record.count == 0) return skip("the size has no element for each rank");
    const auto prediction = predictor_.predict(collective_, static_cast<double>(record.size), root);
    if (!prediction || !std::isfinite(prediction->time_us)) {
      return skip("not modelled: nothing that is known joins these devices");
    }
    record.time_median_us = prediction->time_us;
    record.algbw_GBps = gigabytes_per_second(record.size, Seconds{prediction->time_us / 1e6});
    record.busbw_GBps = *record.algbw_GBps * collective_.bus_factor(record.ranks);
    add_flag(record, name(prediction->sending));
    if (!bound_) return;
    record.bound_GBps = bound_;
    record.bound_kind = predictor_.limits().kind;
    record.efficiency = *record.busbw_GBps / *bound_;
  }

  const Options& options_;
  const Collective& collective_;
  const topo::Predictor& predictor_;
  Outputs& outputs_;
  std::optional<double> bound_{};
};

/// What was asked for by name must be there.
void check_algorithm(const Options& options, const Collective& collective,
                     const topo::Predictor& predictor) {
  if (!options.algorithm || predictor.set().ranks < 2) return;
  if (predictor.predict(collective, 1)) return;
  throw usage_error(fmt::format(
      "--algorithm {}: there is none for {} of {} ranks on {} of '{}'; leave it out, or give ring",
      name(*options.algorithm), collective.title, predictor.set().ranks,
      counted(predictor.set().parts.size(), "node"), predictor.cluster().graph().name));
}

}  // namespace

Status run_simulation(const Options& options, const Collective& collective,
                      const Invocation& invocation) {
  check_launcher();
  const topo::Predictor predictor = make_predictor(options);
  if (options.root && *options.root >= predictor.set().ranks) {
    throw usage_error(fmt::format("-r {}: there are {} ranks; give 0 to {} or all", *options.root,
                                  predictor.set().ranks, predictor.set().ranks - 1));
  }
  check_algorithm(options, collective, predictor);
  SoloBootstrap alone;
  Outputs outputs(alone, options);
  outputs.begin(simulation_context(options, collective, predictor, invocation.command));
  Simulation(options, collective, predictor, outputs).run();
  outputs.end("");
  return outputs.summary().rows == 0 ? Status::Skipped : Status::Ok;
}

}  // namespace busbar
