// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/group_plan.hpp"
#include "harness/host_topology.hpp"
#include "harness/options.hpp"
#include "harness/planned_row.hpp"
#include "harness/rank_map.hpp"
#include "harness/watchdog.hpp"
#include "model/backend.hpp"
#include "model/bootstrap.hpp"

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

/// A launch: what was asked for, and who takes part. Made once; what it refers to outlives it.
struct Job {
  const Options& options;
  const Collective& collective;
  BackendChoice backend{};
  std::string library_settings{};  ///< Backend::settings
  bool on_devices = false;         ///< operations run on devices, not in host memory
  /// Backend::connect.
  std::function<std::shared_ptr<Communicator>(Bootstrap& members)> connect{};
  Bootstrap& world;  ///< the ranks of the job
  const GroupPlan& plan;
  const RankMap& rank_map;
  std::vector<Device> devices{};           ///< of all ranks; none for host memory
  std::optional<HostTopology> topology{};  ///< of this rank's host, where there are devices
  std::vector<Options> variants{};         ///< of --vary; empty where rows have the same options
  Progress progress = Progress::Block;
  Watchdog& watchdog;

  /// Those of a variant.
  [[nodiscard]] const Options& options_of(std::size_t variant) const {
    return variants.empty() ? options : variants[variant];
  }
  /// The groups that have a row in this place of the table.
  [[nodiscard]] std::span<const RankGroup> groups_of(const PlannedRow& row) const {
    if (!plan.mixed.empty()) return {&plan.mixed[row.sweep].all, 1};
    return plan.rounds[row.round].groups;
  }
  /// This rank's in a round; null: it has none.
  [[nodiscard]] const RankGroup* group_of(std::size_t round) const {
    return plan.rounds[round].group_of(world.rank());
  }
};

/// Whether ranks share a GPU.
[[nodiscard]] inline bool any_shared(const std::vector<Device>& devices) {
  return std::ranges::any_of(
      devices, [](const Device& d) { return std::max(d.ranks_on_device, d.ranks_on_gpu) > 1; });
}

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
