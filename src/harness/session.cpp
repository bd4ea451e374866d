// SPDX-License-Identifier: BSD-3-Clause
#include "harness/session.hpp"

#include "harness/bounds.hpp"
#include "harness/host_facts.hpp"
#include "harness/host_topology.hpp"
#include "harness/load.hpp"
#include "harness/outputs.hpp"
#include "harness/rank_map.hpp"
#include "harness/run_header.hpp"
#include "harness/runner.hpp"

namespace busbar {
namespace {

/// A device that is lost at the very end may never give its memory back. Ending NCCL's communicator
/// may take 10 s of it (NcclComm).
constexpr Seconds kLongestRelease{20};

void check_ranks(const Options& options, int ranks, int smallest_group) {
  if (options.root && *options.root >= smallest_group) {
    throw usage_error("-r {}: there are {} ranks{}; give 0 to {} or all", *options.root,
                      smallest_group, smallest_group < ranks ? " in a group" : "",
                      smallest_group - 1);
  }
  if (options.inject_fault && options.inject_fault->rank >= ranks) {
    throw usage_error("--inject-fault: there is no rank {}; give 0 to {}",
                      options.inject_fault->rank, ranks - 1);
  }
  if (options.inject_delay && options.inject_delay->rank >= ranks) {
    throw usage_error("--inject-delay: there is no rank {}; give 0 to {}",
                      options.inject_delay->rank, ranks - 1);
  }
  if (options.pairs == Pairs::All && ranks < 2) {
    throw usage_error("--pairs all: one rank makes no pair; start two or more with mpirun -np");
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
  if (status != Status::Usage) return status;
  const Fault& fault = *options.inject_fault;
  throw usage_error("--inject-fault {}:{}: {}", fault.rank, fault.index,
                    options.checks == 0 ? "results are not checked with -c 0"
                                        : "no row has such an element in this rank's result");
}

/// The devices of all ranks, in rank order, and what is known of this rank's host; empty for host
/// memory.
struct ClaimedDevices {
  std::vector<Device> devices{};
  std::optional<HostTopology> topology{};
};

/// Collective.
ClaimedDevices claim_devices(Bootstrap& world, const Backend& backend, const Options& options) {
  if (!backend.has_devices()) return {};
  HostTopology topology = probe_host(world, backend, options);
  const auto mine = backend.claim_device(world, device_request(topology, options));
  if (!mine) return {};
  return {.devices = world.gather(*mine), .topology = std::move(topology)};
}

/// On host memory --devices are cores or NUMA nodes.
BindRequest bind_request(const Options& options, const Backend& backend,
                         const ClaimedDevices& claimed, int rank) {
  if (claimed.devices.empty()) {
    const bool free = options.bind == Bind::Auto && backend.has_threads() && !options.devices;
    return {.bind = free ? Bind::None : options.bind, .devices = options.devices};
  }
  const Device& mine = claimed.devices[static_cast<std::size_t>(rank)];
  return {.bind = options.bind, .near = mine.bus.data()};
}

bool any_shared(const std::vector<Device>& devices) {
  return std::ranges::any_of(
      devices, [](const Device& d) { return std::max(d.ranks_on_device, d.ranks_on_gpu) > 1; });
}

/// What every row ran on and how.
std::vector<Flag> row_flags(const Run& run) {
  const std::vector<Device>& devices = run.devices;
  std::vector<Flag> flags;
  const auto add_if = [&](bool holds, Flag flag) {
    if (holds) flags.push_back(flag);
  };
  add_if(std::ranges::any_of(devices, is_fake), Flag::Fake);
  add_if(any_shared(devices), Flag::SharedGpu);
  add_if(!devices.empty() && !short_of_processors(run.rank_map).empty(), Flag::OneProcessor);
  add_if(run.options.graph_launches > 0, Flag::Graph);
  add_if(run.options.unalign > 0, Flag::Unaligned);
  add_if(run.options.load.has_value(), Flag::Loaded);
  add_if(run.options.inject_delay.has_value(), Flag::DelayInjected);
  return flags;
}

/// -M: of the rank that took most. Collective.
std::string memory_use_text(Bootstrap& world, const Communicator& communicator) {
  const DeviceMemoryUse use = communicator.device_memory_use().value_or(DeviceMemoryUse{});
  const auto most = [&](Bytes mine) { return format_bytes(world.largest(mine)); };
  std::string text = fmt::format("Initialization {}", most(use.initialization));
  text += fmt::format(" | User-Allocated {}", most(use.user));
  text += fmt::format(" | Collective {}", most(use.collective));
  return text + fmt::format(" | Total {}", most(use.total()));
}

/// The ranks that share a communicator.
struct RankGroup {
  std::vector<int> groups;          // of every rank
  std::unique_ptr<Bootstrap> part;  // where ranks are split
  int smallest = 1;
};

RankGroup make_group(Bootstrap& world, const std::optional<Split>& split) {
  RankGroup group{.groups = groups_of(split, world.size()), .part = {}, .smallest = world.size()};
  if (!split) return group;
  group.part = world.split(group.groups[static_cast<std::size_t>(world.rank())]);
  for (const int number : group.groups) {
    const auto members = std::ranges::count(group.groups, number);
    group.smallest = std::min(group.smallest, static_cast<int>(members));
  }
  return group;
}

ConnectOptions connect_options(const Options& options, const Collective& collective,
                               Progress progress, bool shared, int rank) {
  constexpr int kRingPeers = 2;  // the one it sends to and the one it receives from
  const bool is_ring = collective.peers != nullptr && options.pairs != Pairs::All;
  ConnectOptions wanted{.progress = progress,
                        .registration = options.registration,
                        .cta_policy = options.cta_policy,
                        .peers = is_ring ? kRingPeers : 0,
                        .pages = options.pages,
                        .shares_devices = shared,
                        .observe_choice = options.nccl_choice,
                        .world_rank = rank};
  const bool watched = options.timeout > Seconds{0};
  if (watched) wanted.timeout = Seconds::max();  // -T's watchdog ends it
  return wanted;
}

/// The memory of --load copy is taken beside the buffers.
void check_load(const Options& options, const MemoryPool& memory) {
  if (RankLoad::bytes(options) <= memory.per_rank()) return;
  throw usage_error("--load copy: needs {} of each rank, {} may be used; give a smaller size",
                    format_bytes(RankLoad::bytes(options)), format_bytes(memory.per_rank()));
}

/// Measures what the rows are planned and judged by. Collective.
void complete(Run& run) {
  run.watchdog.step("measuring the host's limits");
  run.bound = find_bound(run);
  run.watchdog.step("planning memory");
  const auto rank = static_cast<std::size_t>(run.world.rank());
  run.memory = plan_memory(run.world, run.options, run.rank_map, run.communicator,
                           run.devices.empty() ? 1 : run.devices[rank].ranks_on_device);
  check_load(run.options, run.memory);
  run.timer_cost_s = run.world.largest(run.communicator.stopwatch().cost().count());
  run.flags = row_flags(run);
  run.device_cache = run.world.largest(run.communicator.device_cache());
}

/// Heads, rows and ends of all outputs. `runner` is the caller's so that it outlives a failure.
/// Collective.
Status measure(const Run& run, const BackendChoice& backend, const std::string& library_settings,
               const Invocation& invocation, Outputs& outputs, std::optional<Runner>& runner) {
  const Options& options = run.options;
  runner.emplace(run, outputs);
  const std::vector<SizePlan> plans =
      plan_sweep(run, options.types.front(), options.ops.front(), runner->prepare());
  const HeaderInput header{.run = run,
                           .backend = backend,
                           .plans = plans,
                           .command = invocation.command,
                           .environment = invocation.environment,
                           .inventory = inventory_facts(run.world, run.topology),
                           .library_settings = library_settings,
                           .transports = gather_transports(run.world, run.communicator)};
  outputs.check_resumable(configuration(header));
  outputs.begin(make_run_header(header));
  runner->run();
  outputs.end(options.memory_use ? memory_use_text(run.world, run.communicator) : "");
  return status_of(run.world, outputs.summary(), options);
}

}  // namespace

Status run_session(const Options& options, const Collective& collective,
                   const Invocation& invocation, Bootstrap& world, Watchdog& watchdog) {
  watchdog.step("setting up");
  RankGroup group = make_group(world, options.split);
  Bootstrap& members = group.part ? *group.part : world;
  check_ranks(options, world.size(), group.smallest);
  const BackendChoice choice = choose_backend(options.backend, world);
  const Backend& backend = *choice.backend;
  const bool has_devices = backend.has_devices();
  check_applicable(options, backend, collective);
  Outputs outputs(world, options);
  watchdog.step("reading the hosts' facts");
  HostFacts facts(world, options);
  outputs.write_facts(facts.read());
  watchdog.step("looking at the devices");
  ClaimedDevices claimed = claim_devices(world, backend, options);
  const RankMap rank_map = map_ranks(world, bind_request(options, backend, claimed, world.rank()));
  const Progress progress = choose_progress(options.progress, rank_map);
  world.set_progress(progress);
  members.set_progress(progress);
  watchdog.step(fmt::format("connecting the ranks over {}", backend.name()));
  const ConnectOptions wanted =
      connect_options(options, collective, progress, any_shared(claimed.devices), world.rank());
  const Clock::time_point connecting = Clock::now();
  const auto communicator = backend.connect(members, wanted);
  Run run{.options = options,
          .collective = collective,
          .backend = backend.name(),
          .world = world,
          .group = members,
          .smallest_group = group.smallest,
          .groups = std::move(group.groups),
          .communicator = *communicator,
          .rank_map = rank_map,
          .devices = std::move(claimed.devices),
          .topology = std::move(claimed.topology),
          .progress = progress,
          .watchdog = watchdog,
          .on_devices = has_devices,
          .connect_s = world.largest(Seconds(Clock::now() - connecting).count())};
  std::optional<Runner> runner;
  try {
    complete(run);
    const Status status =
        measure(run, choice, backend.settings(wanted), invocation, outputs, runner);
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
