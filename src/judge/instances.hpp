// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// One use of a device set: these nodes measure together.
struct Instance {
  std::string name{};                ///< "h1", "h1+h2", "rail 3", "all"
  std::vector<std::string> nodes{};  ///< by name, in the order of the node list
  int group = -1;                    ///< of Rails: the rows with this group count; -1: all do
};

/// True where a pairwise set has so many nodes that it is searched by halving.
[[nodiscard]] bool is_halved(const DeviceSetRule& set, std::size_t nodes);

/// What must have been measured: one per node, all pairs, a rail per rank of a node, or one. Of a
/// halved set: the groups that the observations have.
[[nodiscard]] std::vector<Instance> instances_of(const DeviceSetRule& set,
                                                 std::span<const std::string> nodes,
                                                 std::span<const Observation> observations);

/// True where a launch is of the instance: the same set and nodes, in any order, and a group that
/// it may tell of. Confirmations are of no instance.
[[nodiscard]] bool belongs_to(const Observation& observation, const DeviceSetRule& set,
                              const Instance& instance);

/// Ranks that run its collective: of a rail one per node, else all of the nodes'.
[[nodiscard]] int ranks_of(const DeviceSetRule& set, const Instance& instance);

/// The nodes to be judged: given, else of the specification, else those that were observed.
[[nodiscard]] std::vector<std::string> nodes_to_judge(const std::vector<std::string>& given,
                                                      const Specification& specification,
                                                      std::span<const Observation> observations);

}  // namespace busbar::judge
