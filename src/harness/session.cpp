// SPDX-License-Identifier: BSD-3-Clause
#include "harness/session.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "harness/context.hpp"
#include "harness/find_bounds.hpp"
#include "harness/host_topology.hpp"
#include "harness/inventory.hpp"
#include "harness/outputs.hpp"
#include "harness/placement.hpp"
#include "harness/runner.hpp"
#include "harness/split.hpp"
#include "harness/transports.hpp"
#include "model/backend.hpp"

namespace busbar {
namespace {

/// Longer than the longest first operation that is known (10 minutes, an all-to-all over 240 GPUs:
/// NVIDIA/nccl-tests#78), and than connecting may take (ConnectOptions), whose message says more.
constexpr Seconds kDeviceTimeout{900};
/// A device that is lost at the very end may never give its memory back. Ending NCCL's communicator
/// may take 10 s of it (NcclComm).
constexpr Seconds kLongestRelease{20};

void check_ranks(const Options& options, int ranks, int smallest_team) {
  if (options.root && *options.root >= smallest_team) {
    throw usage_error(fmt::format("-r {}: there are {} ranks{}; give 0 to {} or all", *options.root,
                                  smallest_team, smallest_team < ranks ? " in a group" : "",
                                  smallest_team - 1));
  }
  if (options.inject_fault && options.inject_fault->rank >= ranks) {
    throw usage_error(fmt::format("--inject-fault: there is no rank {}; give 0 to {}",
                                  options.inject_fault->rank, ranks - 1));
  }
  if (options.pairs == Pairs::All && ranks < 2) {
    throw usage_error("--pairs all: one rank makes no pair; start two or more with mpirun -np");
  }
}

Progress choose_progress(ProgressChoice choice, const Placements& placements) {
  if (choice == ProgressChoice::Auto) {
    return placements.oversubscribed ? Progress::Yield : Progress::Block;
  }
  return choice == ProgressChoice::Yield ? Progress::Yield : Progress::Block;
}

/// Wrong data is 1; a run in which no row could be measured has nothing to show for a 0. A fault
/// that no row has was asked for in vain: it would look like a check that sees nothing.
Status verdict(Bootstrap& bootstrap, const RunSummary& summary, const Options& options) {
  Status status = Status::Ok;
  if (options.inject_fault && summary.fault_rows == 0) status = Status::Usage;
  if (summary.rows == 0) status = Status::Skipped;
  if (summary.wrong_rows > 0) status = Status::Wrong;
  bootstrap.broadcast(status);
  if (status != Status::Usage) return status;
  const Fault& fault = *options.inject_fault;
  throw usage_error(fmt::format("--inject-fault {}:{}: {}", fault.rank, fault.index,
                                options.checks == 0
                                    ? "results are not checked with -c 0"
                                    : "no row has such an element in this rank's result"));
}

double slowest_timer_s(Bootstrap& bootstrap, Stopwatch& stopwatch) {
  double cost = stopwatch.cost().count();
  bootstrap.combine({&cost, 1}, Combine::Max);
  return cost;
}

/// The devices of all ranks, in rank order, and what is known of this rank's host; none of both for
/// host memory.
struct Taken {
  std::vector<Device> devices{};
  std::optional<HostTopology> topology{};
  std::string near{};  ///< PCI address of this rank's
};

/// Collective.
Taken take_devices(Bootstrap& everyone, const Backend& backend, const Options& options) {
  if (!backend.has_devices()) return {};
  Taken taken{.topology = look_at_devices(everyone, backend, options)};
  const auto mine = backend.take_device(everyone, device_wish(*taken.topology, options));
  if (!mine) return {};
  taken.devices = everyone.gather(*mine);
  taken.near = mine->bus.data();
  return taken;
}

/// On host memory --devices are cores or NUMA nodes.
PlaceWish place_wish(const Options& options, const Taken& taken) {
  PlaceWish wish{.bind = options.bind, .near = taken.near};
  if (taken.devices.empty()) wish.devices = options.devices;
  return wish;
}

bool any_shared(const std::vector<Device>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](const Device& d) { return std::max(d.sharers, d.bus_sharers) > 1; });
}

/// Words for every row about what it ran on and how.
std::vector<std::string_view> row_flags(const Options& options, const std::vector<Device>& devices,
                                        const Placements& placements) {
  std::vector<std::string_view> flags;
  if (std::any_of(devices.begin(), devices.end(), is_fake)) flags.emplace_back("fake");
  if (any_shared(devices)) flags.emplace_back("shared-gpu");
  if (!devices.empty() && !short_of_processors(placements).empty()) {
    flags.emplace_back("one-processor");
  }
  if (options.graph_launches > 0) flags.emplace_back("graph");
  if (options.unalign > 0) flags.emplace_back("unaligned");
  return flags;
}

/// -M: of the rank that took most. Collective.
std::string memory_use_words(Bootstrap& everyone, const Communicator& communicator) {
  const DeviceMemoryUse use = communicator.device_memory_use().value_or(DeviceMemoryUse{});
  std::array<double, 4> most{};
  const std::array<Bytes, 4> mine{use.initialization, use.user, use.collective, use.total()};
  std::copy(mine.begin(), mine.end(), most.begin());
  everyone.combine(most, Combine::Max);
  const auto words = [&](std::size_t i) { return format_bytes(static_cast<Bytes>(most.at(i))); };
  return fmt::format("Initialization {} | User-Allocated {} | Collective {} | Total {}", words(0),
                     words(1), words(2), words(3));
}

/// The ranks that share a communicator, and how they came to.
struct Team {
  std::vector<int> groups;          // of every rank
  std::unique_ptr<Bootstrap> part;  // where ranks are split
  int smallest = 1;

  [[nodiscard]] Bootstrap& members(Bootstrap& everyone) const { return part ? *part : everyone; }
};

Team make_team(Bootstrap& everyone, const std::optional<Split>& split) {
  Team team{.groups = groups_of(split, everyone.size()), .part = {}, .smallest = everyone.size()};
  if (!split) return team;
  team.part = everyone.split(team.groups[static_cast<std::size_t>(everyone.rank())]);
  for (const int group : team.groups) {
    const auto members = std::count(team.groups.begin(), team.groups.end(), group);
    team.smallest = std::min(team.smallest, static_cast<int>(members));
  }
  return team;
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
  const bool watched = options.timeout.value_or(Seconds{0}) > Seconds{0};
  if (watched) wanted.timeout = Seconds::max();  // -T's watchdog ends it
  return wanted;
}

/// The largest of all ranks' devices. Collective.
Bytes largest_device_cache(Bootstrap& everyone, const Communicator& communicator) {
  auto cache = static_cast<double>(communicator.device_cache());
  everyone.combine({&cache, 1}, Combine::Max);
  return static_cast<Bytes>(cache);
}

/// A session whose ranks have their places, and what it is of.
struct PlacedSession {
  const Options& options;
  const Invocation& invocation;
  Bootstrap& everyone;
  const Team& team;
  const BackendChoice& backend;
  const Collective& collective;
  std::string library_settings;
  const Taken& taken;
  const Placements& placements;
  Progress progress;
  Watchdog& watchdog;
};

/// Collective.
RunParts run_parts(const PlacedSession& session, Communicator& communicator) {
  const Options& options = session.options;
  const std::vector<Device>& devices = session.taken.devices;
  const auto rank = static_cast<std::size_t>(session.everyone.rank());
  session.watchdog.step("measuring the host's limits");
  BoundSource bound_of = find_bounds({.options = options,
                                      .collective = session.collective,
                                      .everyone = session.everyone,
                                      .communicator = communicator,
                                      .placements = session.placements,
                                      .devices = devices,
                                      .topology = session.taken.topology,
                                      .groups = session.team.groups});
  session.watchdog.step("planning memory");
  return {.options = options,
          .collective = session.collective,
          .backend = session.backend.backend->name(),
          .everyone = session.everyone,
          .team = session.team.members(session.everyone),
          .group = options.split ? std::optional{session.team.groups[rank]} : std::nullopt,
          .smallest_team = session.team.smallest,
          .communicator = communicator,
          .placements = session.placements,
          .memory = find_memory(session.everyone, options, session.placements, communicator,
                                devices.empty() ? 1 : devices[rank].sharers),
          .progress = session.progress,
          .timer_cost_s = slowest_timer_s(session.everyone, communicator.stopwatch()),
          .flags = row_flags(options, devices, session.placements),
          .watchdog = session.watchdog,
          .bound_of = std::move(bound_of),
          .on_devices = session.backend.backend->has_devices(),
          .device_cache = largest_device_cache(session.everyone, communicator)};
}

/// Heads, rows and ends of all outputs. `runner` is the caller's so that it outlives a failure.
/// Collective.
Status measure(const PlacedSession& session, Communicator& communicator, Outputs& outputs,
               std::optional<Runner>& runner) {
  const Options& options = session.options;
  const RunParts parts = run_parts(session, communicator);
  runner.emplace(parts, outputs);
  const std::vector<SizePlan> plans =
      plan_sweep(parts, options.types.front(), options.ops.front(), runner->prepare());
  const SetBound bound = parts.bound_of({});
  const ContextInput context{.options = options,
                             .collective = session.collective,
                             .backend = session.backend,
                             .placements = session.placements,
                             .devices = session.taken.devices,
                             .groups = session.team.groups,
                             .memory = parts.memory,
                             .plans = plans,
                             .progress = session.progress,
                             .ranks = session.everyone.size(),
                             .nodes = session.everyone.nodes(),
                             .timer_cost_s = parts.timer_cost_s,
                             .bound = bound,
                             .command = session.invocation.command,
                             .environment = session.invocation.environment,
                             .inventory = inventory_facts(session.everyone, session.taken.topology),
                             .library_settings = session.library_settings,
                             .transports = gather_transports(session.everyone, communicator)};
  outputs.check_resumable(configuration(context));
  outputs.begin(make_context(context));
  runner->run();
  outputs.end(options.memory_use ? memory_use_words(session.everyone, communicator) : "");
  return verdict(session.everyone, outputs.summary(), options);
}

}  // namespace

Status run_session(const Options& options, const Invocation& invocation, Bootstrap& everyone,
                   Watchdog& watchdog) {
  watchdog.step("setting up");
  const Team team = make_team(everyone, options.split);
  check_ranks(options, everyone.size(), team.smallest);
  const BackendChoice backend = choose_backend(options.backend, everyone);
  const bool has_devices = backend.backend->has_devices();
  if (has_devices && !options.timeout) watchdog.start(kDeviceTimeout);
  const Collective& collective = *registered_collectives().front();
  check_applicable(options, *backend.backend, collective);
  Outputs outputs(everyone, options);
  watchdog.step("looking at the devices");
  const Taken taken = take_devices(everyone, *backend.backend, options);
  const Placements placements = place_ranks(everyone, place_wish(options, taken));
  const Progress progress = choose_progress(options.progress, placements);
  everyone.set_progress(progress);
  Bootstrap& members = team.members(everyone);
  members.set_progress(progress);
  watchdog.step(fmt::format("connecting the ranks over {}", backend.backend->name()));
  const ConnectOptions wanted =
      connect_options(options, collective, progress, any_shared(taken.devices), everyone.rank());
  const auto communicator = backend.backend->connect(members, wanted);
  std::optional<Runner> runner;
  try {
    const Status status = measure({.options = options,
                                   .invocation = invocation,
                                   .everyone = everyone,
                                   .team = team,
                                   .backend = backend,
                                   .collective = collective,
                                   .library_settings = backend.backend->settings(wanted),
                                   .taken = taken,
                                   .placements = placements,
                                   .progress = progress,
                                   .watchdog = watchdog},
                                  *communicator, outputs, runner);
    if (has_devices) watchdog.step("giving the devices back", kLongestRelease);
    return status;
  } catch (const std::exception& error) {
    invocation.on_failure(error);  // while nothing of the device has been given back
    throw;
  }
}

}  // namespace busbar
