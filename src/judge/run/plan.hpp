// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "judge/fleet/bisection.hpp"
#include "judge/judge.hpp"
#include "judge/observation.hpp"
#include "judge/run/job.hpp"
#include "judge/run/journal.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Jobs that share no node and may run at the same time.
using Unit = std::vector<Job>;

/// The same order everywhere for a seed: Fisher and Yates by the generator's own numbers, since a
/// library's distributions differ.
template <class Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[static_cast<std::size_t>(random() % left)]);
  }
}

/// All launches of all sets but those that are searched by bisection, launches and instances
/// shuffled. Not `parallel`: one job at a time.
[[nodiscard]] std::vector<Unit> plan_units(const Specification& specification,
                                           std::span<const std::string> nodes, bool parallel,
                                           std::mt19937_64& random);

/// All launches of instances that share no node, as units in their order.
[[nodiscard]] std::vector<Unit> launch_units(const Specification& specification,
                                             const std::string& device_set,
                                             std::span<const Instance> instances, bool parallel);

/// The groups of a round as instances, "h0+h1+h2".
[[nodiscard]] std::vector<Instance> instances_of_round(std::span<const Bisection::Group> groups,
                                                       std::span<const std::string> nodes);

/// One job per unit where jobs may not run at the same time.
[[nodiscard]] std::vector<Unit> apart(std::vector<Unit> units, bool parallel);

/// The launches of noisy instances once more, where the specification has reruns left for them.
[[nodiscard]] std::vector<Unit> rerun_units(const Specification& specification,
                                            const Journal& journal, const Acceptance& acceptance);

/// Suspects of rules that want a confirmation: a node with a partner that is known to be good (or
/// alone, on a set of single nodes), a link once more. One job at a time: a suspect must not be
/// measured beside another.
[[nodiscard]] std::vector<Unit> confirm_units(const Specification& specification,
                                              std::span<const std::string> nodes,
                                              const Acceptance& acceptance);

/// A search by bisection as far as the verdicts lead it: the same for a run that goes on and for
/// files that are judged later.
struct BisectionResume {
  std::vector<std::string> nodes{};      ///< that were searched: those that answered
  Bisection search;                      ///< its numbers are places in `nodes`
  std::vector<Bisection::Group> next{};  ///< to be measured; empty: the search is over
};

/// Replays the search on a set: a group is low where a rule fails on it, and has no data where one
/// is an error. Needs two nodes that answer.
[[nodiscard]] BisectionResume resume_bisection(const DeviceSetRule& set,
                                               std::span<const std::string> nodes,
                                               std::span<const Observation> observations,
                                               const Acceptance& acceptance);

/// Nodes of a bisected set that answered.
[[nodiscard]] std::vector<std::string> searched_nodes(const DeviceSetRule& set,
                                                      std::span<const std::string> nodes,
                                                      std::span<const Observation> observations);

}  // namespace busbar::judge
