// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/memory_plan.hpp"
#include "harness/memory_pool.hpp"
#include "harness/options.hpp"
#include "harness/placement.hpp"
#include "harness/set_bound.hpp"
#include "harness/transports.hpp"
#include "model/backend.hpp"
#include "report/writer.hpp"

namespace busbar {

/// Everything that the heads of the outputs tell.
struct ContextInput {
  const Options& options;
  const Collective& collective;
  const BackendChoice& backend;
  const Placements& placements;
  const std::vector<Device>& devices;  ///< of all ranks; none for host memory
  const std::vector<int>& groups;      ///< of all ranks
  const MemoryPool& memory;
  const std::vector<SizePlan>& plans;  ///< of the first type and operation
  Progress progress;
  int ranks;
  int nodes;
  double timer_cost_s;
  const SetBound& bound;  ///< of rank 0's team
  std::string command;
  std::vector<std::string> environment;
  std::vector<std::pair<std::string, std::string>> inventory{};  ///< inventory_facts
  std::string library_settings{};                                ///< Backend::settings
  std::optional<TransportSummary> transports{};                  ///< with --nccl-choice
};

[[nodiscard]] RunContext make_context(const ContextInput& input);

/// The value of the CSV's "configuration" fact: equal for runs whose rows belong together.
[[nodiscard]] std::string configuration(const ContextInput& input);

}  // namespace busbar
