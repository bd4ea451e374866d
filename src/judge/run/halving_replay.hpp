// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/fleet/halving.hpp"
#include "judge/instances.hpp"
#include "judge/judge.hpp"

namespace busbar::judge {

/// A search by halving as far as the verdicts lead it: the same for a run that goes on and for
/// files that are judged later.
struct HalvingReplay {
  std::vector<std::string> nodes{};    ///< that were searched: those that answered
  Halving search;                      ///< its numbers are places in `nodes`
  std::vector<Halving::Group> next{};  ///< to be measured; empty: the search is over
};

/// Replays the search on a set: a group is low where a rule fails on it, and has no data where one
/// is an error. Needs two nodes that answer.
[[nodiscard]] HalvingReplay replay_halving(const DeviceSetRule& set,
                                           std::span<const std::string> nodes,
                                           std::span<const Observation> observations,
                                           const Judgement& judgement);

/// Nodes of a halved set that answered.
[[nodiscard]] std::vector<std::string> searched_nodes(const DeviceSetRule& set,
                                                      std::span<const std::string> nodes,
                                                      std::span<const Observation> observations);

}  // namespace busbar::judge
