// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/enum_names.hpp"

namespace busbar::topo {

/// How a collective moves its data.
enum class Algorithm {
  Ring,
  Tree,          ///< chains within hosts, a double binary tree between them
  Hierarchical,  ///< a ring within each host, one across the hosts
  Nvls           ///< the switch adds
};
constexpr auto enum_names(Algorithm) {
  return std::array{Named{Algorithm::Ring, "ring"}, Named{Algorithm::Tree, "tree"},
                    Named{Algorithm::Hierarchical, "hierarchical"}, Named{Algorithm::Nvls, "nvls"}};
}
inline constexpr auto kAlgorithms = all_values<Algorithm>();

/// What an operation costs beside its bytes, in microseconds: once, and for each step by what the
/// step goes over. 0 where unknown.
struct StepTimes {
  double share = 0;  ///< of the rate that the links have for it
  double launch_us = 0;
  double nvlink_us = 0;
  double pcie_us = 0;
  double smp_us = 0;
  double network_us = 0;

  [[nodiscard]] bool operator==(const StepTimes&) const = default;
};

/// The ways to send that have times of their own. Low latency sends a flag with every word, which
/// costs bandwidth and saves a synchronization (LL of NCCL).
enum class Sending { Ring, RingLowLatency, Tree, TreeLowLatency, Hierarchical, Nvls };
/// The keys in a system file.
constexpr auto enum_names(Sending) {
  return std::array{Named{Sending::Ring, "ring"},
                    Named{Sending::RingLowLatency, "ring_low_latency"},
                    Named{Sending::Tree, "tree"},
                    Named{Sending::TreeLowLatency, "tree_low_latency"},
                    Named{Sending::Hierarchical, "hierarchical"},
                    Named{Sending::Nvls, "nvls"}};
}
inline constexpr auto kSendings = all_values<Sending>();

/// What the software makes of the links: for predictions. 0 or empty where a system file does not
/// report.
struct Protocol {
  double efficiency = 0;            ///< of every medium that has none of its own, up to 1
  double in_switch_efficiency = 0;  ///< of the switch's own additions
  int flows = 0;                    ///< connections between two hosts; 0: enough to fill a network
  std::vector<Algorithm> algorithms{};  ///< that the library has
  std::array<StepTimes, kSendings.size()> steps{};
  std::string source{};  ///< of the figures

  [[nodiscard]] bool operator==(const Protocol&) const = default;
};

/// The same with defaults (NCCL's own model, docs/simulation.md) for what is unknown.
[[nodiscard]] Protocol completed(Protocol known);

}  // namespace busbar::topo
