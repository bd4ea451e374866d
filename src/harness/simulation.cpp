// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "base/embedded_text.hpp"
#include "base/host.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/solo_bootstrap.hpp"
#include "harness/outputs.hpp"
#include "harness/row_record.hpp"
#include "harness/run_header.hpp"
#include "model/fact.hpp"
#include "topo/predict/predictor.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar {
namespace {

std::string algorithm_text(const Options& options, const topo::Predictor& predictor) {
  if (options.algorithm) return std::string(name(*options.algorithm));
  return "quickest of " + join_each(predictor.protocol().algorithms, " ",
                                    [](topo::Algorithm algorithm) { return name(algorithm); });
}

std::string flows_text(const topo::Predictor& predictor) {
  const int flows = predictor.bound_options().flows;
  return flows > 0 ? fmt::format("{}", flows) : "as many as fill the network";
}

/// The part of a measured run's configuration that a prediction depends on.
std::string configuration(const Options& options, const Collective& collective,
                          const topo::Predictor& predictor) {
  std::string text = fmt::format(
      "collective={} backend=sim ranks={} nodes={} system={} flows={} algorithm={} devices={}",
      collective.name, predictor.set().ranks, predictor.set().parts.size(),
      predictor.cluster().graph().name, predictor.bound_options().flows,
      options.algorithm ? name(*options.algorithm) : "auto",
      options.devices ? to_text(*options.devices) : "prefix");
  for (const std::string& part : configuration_of(options)) {
    const std::string key = part.substr(0, part.find('='));
    for (const char* known : {"sizes", "types", "ops", "root", "placement", "distribution"}) {
      if (key == known) text += ' ' + part;
    }
  }
  return text;
}

/// Of many ranks the first and the last.
std::vector<RankDevice> rank_devices(const topo::Predictor& predictor) {
  constexpr int kMostLines = 16;
  const int last = predictor.set().ranks - 1;
  const bool all = last < kMostLines;
  std::vector<RankDevice> devices;
  int rank = 0;
  for (const topo::HostPart& part : predictor.set().parts) {
    const std::vector<int> indices = predictor.cluster().indices(part);
    for (std::size_t i = 0; i < indices.size(); ++i, ++rank) {
      if (!all && rank > 0 && rank < last) continue;
      const topo::Node& node = device(predictor.cluster().graph(), indices[i]);
      devices.push_back({.rank = rank,
                         .host = fmt::format("simulated-host{}", part.host),
                         .device = part.devices[i],
                         .address = node.bus_id.empty() ? "-" : node.bus_id,
                         .name = node.model});
    }
  }
  return devices;
}

std::vector<std::string> notes_of(const Options& options, const Collective& collective,
                                  const topo::Predictor& predictor) {
  const topo::Graph& graph = predictor.cluster().graph();
  const topo::SetLimits& limits = predictor.limits();
  const std::string what = graph.title.empty() ? graph.name : graph.title;
  std::vector<std::string> notes{
      fmt::format("busbar {}: simulated: {} on {}, {} on {}; predicted from its links, nothing was "
                  "measured",
                  version(), collective.title, what, counted(predictor.set().ranks, "rank"),
                  counted(predictor.set().parts.size(), "node")),
      fmt::format("simulated: {}; flows between hosts: {}; {}", algorithm_text(options, predictor),
                  flows_text(predictor), predictor.protocol().source)};
  if (predictor.set().ranks < 2) return notes;
  notes.push_back(fmt::format("devices {} ({}): rings {} {:.4g} GB/s over {}, limited by {}{}",
                              predictor.set().to_text(), predictor.set().reason,
                              graph.assumptions.empty() ? "at most" : "about", limits.ring_GBps,
                              limits.kind, limits.limit, limits.exact ? "" : " (not exact)"));
  for (const topo::Assumption& assumption : graph.assumptions) {
    notes.push_back("assumed: " + assumption.text);
  }
  return notes;
}

RunContext header_of(const Options& options, const Collective& collective,
                     const topo::Predictor& predictor, const std::vector<std::string>& arguments) {
  const topo::Graph& graph = predictor.cluster().graph();
  RunContext context =
      begin_header(options, collective, configuration(options, collective, predictor), arguments);
  context.facts.insert(context.facts.end(),
                       {{key(fact::kSimulated), "yes"},
                        {key(fact::kSystem), graph.name},
                        {key(fact::kSystemTitle), graph.title},
                        {key(fact::kSystemSource), graph.source},
                        {key(fact::kLibrary), "simulated"},
                        {key(fact::kProcessor), graph.title.empty() ? graph.name : graph.title},
                        {key(fact::kAlgorithm), algorithm_text(options, predictor)},
                        {key(fact::kFlows), flows_text(predictor)},
                        {key(fact::kProtocolSource), predictor.protocol().source},
                        {key(fact::kDeviceSet), predictor.set().to_text()},
                        {key(fact::kBoundKind), predictor.limits().kind},
                        {key(fact::kBoundLimit), predictor.limits().limit}});
  context.notes = notes_of(options, collective, predictor);
  context.warmup = context.operations = context.checks = 0;
  context.devices = rank_devices(predictor);
  return context;
}

/// The system, in as many hosts as the options ask for or the ranks need, with its network or
/// theirs.
topo::EqualHosts machine_of(const Options& options, const std::string& system) {
  topo::EqualHosts machine = topo::load_machine(system);
  const bool is_joined = machine.hosts > 1 && !options.network;
  if (!options.hosts.empty()) {
    constexpr int kMostHosts = 1 << 16;
    machine.hosts =
        static_cast<int>(parse_integer("--hosts", options.hosts.front(), 1, kMostHosts));
  } else if (machine.hosts == 1 && !options.devices) {
    const int on_host = static_cast<int>(device_count(machine.host));
    machine.hosts = std::max(1, (options.ranks.value_or(1) + on_host - 1) / on_host);
  }
  if (machine.hosts > 1 && !is_joined) {
    machine.host = topo::with_network(std::move(machine.host), options.network);
  }
  return machine;
}

topo::Predictor make_predictor(const Options& options, const std::string& system) {
  const topo::EqualHosts machine = machine_of(options, system);
  const topo::Cluster cluster(machine);
  const int all = static_cast<int>(cluster.devices());
  const bool list = options.devices && options.devices->policy == topo::Policy::List;
  const int usual = list ? static_cast<int>(options.devices->devices.size()) : all;
  return topo::Predictor(machine, {.ranks = options.ranks.value_or(usual),
                                   .devices = options.devices.value_or(topo::Selection{}),
                                   .flows = options.flows,
                                   .algorithm = options.algorithm});
}

/// The row as it is predicted, with its bound.
Row predicted_row(const Job& job, const PlannedRow& planned, const topo::Predictor& predictor) {
  const RankGroup& ranks = job.plan.rounds.front().groups.front();
  const Collective& collective = job.collective;
  const Footprint footprint =
      collective.footprint({.wanted = planned.wanted,
                            .element = info(planned.type).size,
                            .ranks = predictor.set().ranks,
                            .distribution = job.options.distribution_of(collective)});
  const topo::Routed routed{.root = planned.root, .traffic = footprint.traffic.get()};
  Evidence evidence{.finished_at = local_time(),
                    .nodes = static_cast<int>(predictor.set().parts.size()),
                    .device_set = predictor.set().to_text(),
                    .bound_kind = predictor.limits().kind,
                    .bound_GBps = predictor.bound_GBps(collective, routed)};
  std::string_view sending;
  if (ranks.ranks.size() < 2) {
    evidence.skipped = "one rank exchanges nothing";
  } else if (footprint.count == 0) {
    evidence.skipped = "the size has no element for each rank";
  } else {
    const auto prediction =
        predictor.predict(collective, static_cast<double>(footprint.size), routed);
    if (prediction && std::isfinite(prediction->time_us)) {
      evidence.predicted_us = prediction->time_us;
      sending = name(prediction->sending);
    } else {
      evidence.skipped = "not modelled: nothing that is known joins these devices";
    }
  }
  Row row = row_of(job, planned, ranks, {&evidence, 1});
  if (!sending.empty()) row.record.flags += fmt::format(" {}", sending);
  return row;
}

/// What was asked for by name must be there.
void check_algorithm(const Options& options, const Collective& collective,
                     const topo::Predictor& predictor) {
  if (!options.algorithm || predictor.set().ranks < 2) return;
  if (predictor.predict(collective, 1)) return;
  throw usage_error(
      "--algorithm {}: there is none for {} of {} ranks on {} of '{}'; leave it out, or give ring",
      name(*options.algorithm), collective.title, predictor.set().ranks,
      counted(predictor.set().parts.size(), "node"), predictor.cluster().graph().name);
}

}  // namespace

Status run_simulation(const Options& wanted, const Collective& collective,
                      const Invocation& invocation) {
  const auto launcher = find_launcher();
  if (launcher && launcher->size != 1) {
    throw usage_error(
        "--backend sim: one process predicts all ranks, and {} has started several; start it "
        "without",
        launcher->name);
  }
  const topo::WantedSystem system = topo::wanted_system(wanted.system, wanted.nvidia_smi);
  const topo::Predictor predictor = make_predictor(wanted, system.name);
  const Options options = with_own_size(wanted, collective, predictor.set().ranks);
  check_root(options, predictor.set().ranks, predictor.set().ranks);
  check_algorithm(options, collective, predictor);
  const GroupPlan plan = world_plan(predictor.set().ranks);
  const std::vector<PlannedRow> rows = plan_rows(options, collective, plan);
  SoloBootstrap alone;
  Outputs outputs(alone, options);
  RunContext header = header_of(options, collective, predictor, invocation.arguments);
  if (!system.note.empty()) header.notes.push_back(system.note);
  outputs.begin(header);
  const RankMap nowhere{};
  Watchdog watchdog(std::nullopt, {});
  const Job job{.options = options,
                .collective = collective,
                .world = alone,
                .plan = plan,
                .rank_map = nowhere,
                .watchdog = watchdog};
  for (const PlannedRow& row : rows) {
    outputs.write(predicted_row(job, row, predictor));
  }
  outputs.end("");
  return outputs.summary().rows == 0 ? Status::Skipped : Status::Ok;
}

}  // namespace busbar
