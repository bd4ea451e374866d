// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_facts.hpp"
#include "harness/host_topology.hpp"
#include "harness/measurement.hpp"
#include "harness/mix.hpp"
#include "harness/mix_spec.hpp"
#include "harness/rank_map.hpp"
#include "harness/run_header.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

/// A device that is lost at the very end may never give its memory back. Ending NCCL's communicator
/// may take 10 s of it (NcclComm).
constexpr Seconds kLongestRelease{20};

void check_ranks(const Options& options, const Collective& collective, int ranks,
                 int smallest_group) {
  check_root(options, ranks, smallest_group);
  const auto check = [ranks](View option, const auto& of_rank) {
    if (!of_rank || of_rank->rank < ranks) return;
    throw usage_error("{}: there is no rank {}; give {}", option, of_rank->rank, numbers_of(ranks));
  };
  check("--inject-fault", options.inject_fault);
  check("--inject-delay", options.inject_delay);
  if (const Distribution* distribution = options.distribution_of(collective)) {
    // Throws where so few ranks have no such distribution.
    (void)collective.footprint({.element = info(options.types.front()).size,
                                .ranks = smallest_group,
                                .distribution = distribution});
  }
}

Progress choose_progress(ProgressChoice choice, const RankMap& rank_map) {
  const bool yields = choice == ProgressChoice::Yield ||
                      (choice == ProgressChoice::Auto && rank_map.oversubscribed);
  return yields ? Progress::Yield : Progress::Block;
}

/// Wrong data is 1; a run in which no row could be measured has nothing to show for a 0. A fault
/// that no row has was asked for in vain: it would look like a check that sees nothing.
Status status_of(Bootstrap& bootstrap, const RunSummary& summary, const Options& options) {
  Status status = Status::Ok;
  if (options.inject_fault && summary.fault_rows == 0) status = Status::Usage;
  if (summary.rows == 0) status = Status::Skipped;
  if (summary.wrong_rows > 0) status = Status::Wrong;
  bootstrap.broadcast(status);
  agree_on(bootstrap, [&] {
    if (status != Status::Usage) return;
    const Fault& fault = *options.inject_fault;
    throw usage_error("--inject-fault {}:{}: {}", fault.rank, fault.index,
                      options.checks == 0 ? "results are not checked with -c 0"
                                          : "no row has such an element in this rank's result");
  });
  return status;
}

/// The devices of all ranks, in rank order, and what is known of this rank's host; none and nothing
/// for host memory. Collective.
std::vector<Device> claim_devices(Bootstrap& world, const Backend& backend, const Options& options,
                                  std::optional<HostTopology>& topology) {
  if (!backend.has_devices()) return {};
  topology = probe_host(world, backend, options);
  const auto mine = backend.claim_device(world, device_request(*topology, options));
  if (mine) return world.gather(*mine);
  topology.reset();
  return {};
}

/// On host memory --devices are cores or NUMA nodes. Collective.
RankMap bind_ranks(Bootstrap& world, const Backend& backend, const Options& options,
                   const std::vector<Device>& devices) {
  if (!devices.empty()) {
    const Device& mine = devices[static_cast<std::size_t>(world.rank())];
    return map_ranks(world, options.bind, mine.bus.data());
  }
  const bool free = options.bind == Bind::Auto && backend.has_threads() && !options.devices;
  return map_ranks(world, free ? Bind::None : options.bind, {}, options.devices);
}

ConnectOptions connect_options(const Options& options, const Collective& collective, int rank,
                               bool own) {
  constexpr int kRingPeers = 2;  // the one it sends to and the one it receives from
  const bool is_ring =
      collective.peers != nullptr && options.pairs != Pairs::All && options.mix.empty();
  ConnectOptions wanted{.registration = options.registration,
                        .cta_policy = options.cta_policy,
                        .peers = is_ring ? kRingPeers : 0,
                        .pages = options.pages,
                        .observe_choice = options.nccl_choice,
                        .vary = own ? std::nullopt : options.vary,
                        .world_rank = rank};
  const bool watched = options.timeout > Seconds{0};
  if (watched) wanted.timeout = Seconds::max();  // -T's watchdog ends it
  return wanted;
}

/// Heads, rows and ends of all outputs. Collective.
Status measure(const Job& job, const Invocation& invocation, Outputs& outputs, Journal& journal,
               Connected& connected, std::span<const PlannedRow> rows, std::optional<Mix>& mix) {
  const Options& options = job.options;
  const std::string text = configuration(job, invocation.environment);
  outputs.check_resumable(text);
  journal.begin(job, rows, outputs, text);
  const std::size_t first = journal.first_round(order_of_pass(options, rows, 0));
  ConnectedRound round = connected.connect(first);
  if (!job.plan.mixed.empty()) mix.emplace(job, round);
  if (job.plan.rounds.size() > 1 || round.mine == nullptr) {  // rows are of several sets
    round.bound = find_bound(job, round.communicator,
                             first_numbers(static_cast<std::size_t>(job.world.size())));
  }
  const auto plans =
      connected.plan_sweep(options.types.front(), options.ops.front(), round.library_growth);
  outputs.begin(make_run_header(job, round, plans, text, invocation));
  mix ? run_mix(job, rows, *mix, journal) : run_rows(job, rows, connected, journal, outputs);
  outputs.end(options.memory_use ? connected.memory_use_text() : "");
  journal.end();
  return status_of(job.world, outputs.summary(), options);
}

/// What all ranks agree on before anything is measured.
struct Setup {
  Options options{};
  GroupPlan plan{};
  BackendChoice choice{};
  std::vector<Options> variants{};
  std::vector<PlannedRow> rows{};
  ConnectOptions wanted{};
};

Setup set_up(const Options& options, const Collective& collective, Bootstrap& world) {
  Setup setup{.options = options};
  agree_on(world, [&] {
    setup.plan = plan_groups(world, options);
    const auto [smallest, largest] = setup.plan.group_sizes();
    setup.options = with_own_size(options, collective, largest);
    check_ranks(setup.options, collective, world.size(), smallest);
    if (!options.mix.empty()) setup.plan.mixed = read_mix(world, setup.options);
    setup.rows = plan_rows(setup.options, collective, setup.plan);
    setup.choice = choose_backend(options.backend, world);
    setup.variants = variants_of(setup.options);
    for (const Options& variant : setup.variants) {
      check_applicable(variant, *setup.choice.backend, collective);
    }
    setup.wanted =
        connect_options(setup.options, collective, world.rank(), setup.variants.size() > 1);
    setup.choice.backend->check(setup.wanted);
  });
  return setup;
}

}  // namespace

Status run_session(const Options& wanted_options, const Collective& collective,
                   const Invocation& invocation, Bootstrap& world, Watchdog& watchdog) {
  watchdog.step("setting up");
  Setup setup = set_up(wanted_options, collective, world);
  const Options& options = setup.options;
  ConnectOptions& wanted = setup.wanted;
  const Backend& backend = *setup.choice.backend;
  invocation.on_backend(backend);
  const bool has_devices = backend.has_devices();
  Outputs outputs(world, options);
  Journal journal(world, options);
  watchdog.step("reading the hosts' facts");
  HostFacts facts(world, options);
  outputs.write_facts(facts.read());
  watchdog.step("looking at the devices");
  std::optional<HostTopology> topology;
  const std::vector<Device> devices = claim_devices(world, backend, options, topology);
  const RankMap rank_map = bind_ranks(world, backend, options, devices);
  const Progress progress = choose_progress(options.progress, rank_map);
  world.set_progress(progress);
  wanted.progress = progress;
  wanted.shares_devices = any_shared(devices);
  const Job job{.options = options,
                .collective = collective,
                .backend = setup.choice,
                .library_settings = backend.settings(wanted),
                .on_devices = has_devices,
                .connect = [&](Bootstrap& members) { return backend.connect(members, wanted); },
                .world = world,
                .plan = setup.plan,
                .rank_map = rank_map,
                .devices = devices,
                .topology = topology,
                .variants = setup.variants.size() > 1 ? setup.variants : std::vector<Options>{},
                .progress = progress,
                .watchdog = watchdog};
  Connected connected(job, setup.rows);
  std::optional<Mix> mix;
  try {
    const Status status = measure(job, invocation, outputs, journal, connected, setup.rows, mix);
    watchdog.step("reading the hosts' facts");
    outputs.write_facts(facts.read());
    if (has_devices) watchdog.step("giving the devices back", kLongestRelease);
    return status;
  } catch (const std::exception& error) {
    invocation.on_failure(error);  // while nothing of the device has been given back
    throw;
  }
}

}  // namespace busbar
