// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "harness/bounds.hpp"
#include "harness/chunk.hpp"
#include "harness/group_plan.hpp"
#include "harness/memory_plan.hpp"
#include "harness/options.hpp"
#include "harness/rank_map.hpp"
#include "harness/watchdog.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/flag.hpp"

namespace busbar {

/// What the process was started as.
struct Invocation {
  std::vector<std::string> arguments;    ///< the whole command line
  std::vector<std::string> environment;  ///< of libraries, before any of them changed it
  /// Called with the backend that the ranks have agreed on.
  std::function<void(const Backend& backend)> on_backend = [](const Backend&) {};
  /// Called with an error before memory and communicators are given back, which may block for ever
  /// after a device's failure; need not return.
  std::function<void(const std::exception& error)> on_failure = [](const std::exception&) {};
};

/// What all rounds of a launch have in common: what was asked for, and who takes part. What is
/// referred to outlives it.
struct WholeJob {
  const Options& options;
  const Collective& collective;
  BackendChoice backend{};
  std::string library_settings{};  ///< Backend::settings
  bool on_devices = false;         ///< operations run on devices, not in host memory
  /// Backend::connect.
  std::function<std::unique_ptr<Communicator>(Bootstrap& members)> connect{};
  Bootstrap& world;  ///< the ranks of the job
  const GroupPlan& plan;
  const RankMap& rank_map;
  std::vector<Device> devices{};           ///< of all ranks; none for host memory
  std::optional<HostTopology> topology{};  ///< of this rank's host, where there are devices
  std::span<const Options> variants{};     ///< of --vary; empty where rows have the same options
  Progress progress = Progress::Block;
  Watchdog& watchdog;
};

/// One of its rounds, once the ranks are connected, and what was found.
struct Run : WholeJob {
  Bootstrap& group;  ///< the ranks of the communicator: all, or a group of a round
  Communicator& communicator;
  std::size_t round = 0;            ///< of the plan
  const RankGroup* mine = nullptr;  ///< this rank's group of the round; null: it has none
  double connect_s = 0;             ///< that connecting took, of the slowest rank of the job
  double group_connect_s = 0;       ///< and of the group
  MemoryPool memory{};
  double timer_cost_s = 0;
  Bytes device_cache = 0;     ///< largest of all ranks' devices; 0 on host memory
  std::vector<Flag> flags{};  ///< of every row: shared-gpu, fake, ...
  SetBound bound{};           ///< of this rank's group

  [[nodiscard]] RoundGroup round_group() const {
    return {.world = world, .members = group, .idle = mine == nullptr};
  }
};

/// Whether ranks share a GPU.
[[nodiscard]] inline bool any_shared(const std::vector<Device>& devices) {
  return std::ranges::any_of(
      devices, [](const Device& d) { return std::max(d.ranks_on_device, d.ranks_on_gpu) > 1; });
}

/// "round 3, group 1 (h1 h4): "; empty where all ranks are one group.
[[nodiscard]] std::string round_prefix(const GroupPlan& plan, std::size_t round,
                                       const RankGroup* mine);

/// One run of a collective, from placement to footers. Collective. Throws Error.
[[nodiscard]] Status run_session(const Options& options, const Collective& collective,
                                 const Invocation& invocation, Bootstrap& world,
                                 Watchdog& watchdog);

/// --backend sim: predicts every row from a system file (topo/predict) and gives it to the outputs
/// of a measured run; every row and head says `simulated`. One process, without MPI. Throws Error
/// (Usage) before anything is written.
[[nodiscard]] Status run_simulation(const Options& wanted, const Collective& collective,
                                    const Invocation& invocation);

}  // namespace busbar
