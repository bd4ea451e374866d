// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
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
  double network_share = 0;  ///< instead of `share` where a network joins the ranks; 0: the same

  [[nodiscard]] bool operator==(const StepTimes&) const = default;
};

/// The ways to send that have times of their own. Low latency sends a flag with every word, which
/// costs bandwidth and saves a synchronization (LL of NCCL); LL128 sends one with every 128 bytes.
/// Direct: from each rank to each that it has data for.
enum class Sending {
  Ring,
  RingLowLatency,
  RingLl128,
  Tree,
  TreeLowLatency,
  TreeLl128,
  Hierarchical,
  Nvls,
  Direct,
  DirectLowLatency
};
/// The keys in a system file.
constexpr auto enum_names(Sending) {
  return std::array{Named{Sending::Ring, "ring"},
                    Named{Sending::RingLowLatency, "ring_low_latency"},
                    Named{Sending::RingLl128, "ring_ll128"},
                    Named{Sending::Tree, "tree"},
                    Named{Sending::TreeLowLatency, "tree_low_latency"},
                    Named{Sending::TreeLl128, "tree_ll128"},
                    Named{Sending::Hierarchical, "hierarchical"},
                    Named{Sending::Nvls, "nvls"},
                    Named{Sending::Direct, "direct"},
                    Named{Sending::DirectLowLatency, "direct_low_latency"}};
}
inline constexpr auto kSendings = all_values<Sending>();

/// Versions of NCCL whose times are fitted together (docs/simulation.md).
enum class Library { Nccl28, Nccl218, Nccl226 };
constexpr auto enum_names(Library) {
  return std::array{Named{Library::Nccl28, "nccl-2.8"}, Named{Library::Nccl218, "nccl-2.18"},
                    Named{Library::Nccl226, "nccl-2.26"}};
}
inline constexpr auto kLibraries = all_values<Library>();

/// What the software makes of the links: for predictions. 0 or empty where a system file does not
/// report.
struct Protocol {
  std::optional<Library> library{};  ///< whose times stand in for what is unknown; the newest
  double efficiency = 0;             ///< of every medium that has none of its own, up to 1
  double in_switch_efficiency = 0;   ///< of the switch's own additions
  double issue_us = 0;            ///< that a process needs to start an operation on one of its GPUs
  double direct_issue_us = 0;     ///< the same of a direct operation
  double channel_GBps = 0;        ///< of one channel between two ranks
  double network_latency_us = 0;  ///< of a step, above that of InfiniBand
  int flows = 0;                  ///< connections between two hosts; 0: enough to fill a network
  std::vector<Algorithm> algorithms{};  ///< that the library has
  std::array<StepTimes, kSendings.size()> steps{};
  std::string source{};  ///< of the figures

  [[nodiscard]] bool operator==(const Protocol&) const = default;
};

/// Of every medium whose efficiency is not known: 120 of 150 GB/s of a DGX-2, 80 of 100 of a P3
/// (Ren, Yoo and Hoisie); NCCL's 20 of 25 of a link.
inline constexpr double kEfficiency = 0.80;
/// The least and the most of a network's rate in logs of large sizes (docs/expect.md): 36.1 of 50
/// GB/s over Slingshot, 48.9 over InfiniBand. Links between GPUs have 0.76 to 0.81, as is
/// predicted.
inline constexpr double kLeastOfNetwork = 0.72;
inline constexpr double kMostOfNetwork = 0.98;

/// The same with defaults (docs/simulation.md) for what is unknown.
[[nodiscard]] Protocol completed(Protocol known);

}  // namespace busbar::topo
