// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, kAlgorithms.size()> kAlgorithmNames{"ring", "tree",
                                                                           "hierarchical", "nvls"};
constexpr std::array<std::string_view, kSendings.size()> kSendingNames{
    "ring", "ring_low_latency", "tree", "tree_low_latency", "hierarchical", "nvls"};

/// 120 of 150 GB/s of a DGX-2, 80 of 100 of a P3 (Ren, Yoo and Hoisie); NCCL's 20 of 25 of a link.
constexpr double kEfficiency = 0.80;
/// 476 GB/s, which NCCL foresees and users measure on a DGX H100 (NVIDIA/nccl-tests#290), of 700.
constexpr double kInSwitchEfficiency = 0.68;

/// Latencies and shares of src/graph/tuning.cc of NCCL 2.20; between sockets as over PCIe. The
/// hierarchical form, which NCCL has not, has those of the ring.
constexpr std::array<StepTimes, kSendings.size()> kSteps{{
    {.share = 1,
     .launch_us = 8.4,
     .nvlink_us = 3.4,
     .pcie_us = 5.7,
     .smp_us = 5.7,
     .network_us = 14},
    {.share = 0.25,
     .launch_us = 6.6,
     .nvlink_us = 0.6,
     .pcie_us = 1,
     .smp_us = 1,
     .network_us = 2.7},
    {.share = 0.92, .nvlink_us = 28, .pcie_us = 28, .smp_us = 28, .network_us = 28},
    {.share = 0.92 / 3.8,
     .launch_us = 6.8,
     .nvlink_us = 0.6,
     .pcie_us = 1,
     .smp_us = 1,
     .network_us = 5},
    {.share = 1,
     .launch_us = 8.4,
     .nvlink_us = 3.4,
     .pcie_us = 5.7,
     .smp_us = 5.7,
     .network_us = 14},
    {.share = 1, .launch_us = 23},
}};

void fill(double& value, double missing) {
  if (value <= 0) value = missing;
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  return kAlgorithmNames.at(static_cast<std::size_t>(algorithm));
}
std::string_view name(Sending sending) {
  return kSendingNames.at(static_cast<std::size_t>(sending));
}

Protocol completed(Protocol known) {
  const bool silent = known.source.empty();
  fill(known.efficiency, kEfficiency);
  fill(known.in_switch_efficiency, kInSwitchEfficiency);
  if (known.algorithms.empty()) {
    known.algorithms = {Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls};
  }
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    StepTimes& times = known.steps.at(i);
    const StepTimes& missing = kSteps.at(i);
    fill(times.share, missing.share);
    fill(times.launch_us, missing.launch_us);
    fill(times.nvlink_us, missing.nvlink_us);
    fill(times.pcie_us, missing.pcie_us);
    fill(times.smp_us, missing.smp_us);
    fill(times.network_us, missing.network_us);
  }
  if (silent) {
    known.source =
        "defaults: 0.80 of the links (Ren, Yoo and Hoisie, arXiv 1905.08764), NCCL's times "
        "(src/graph/tuning.cc)";
  }
  return known;
}

}  // namespace busbar::topo
