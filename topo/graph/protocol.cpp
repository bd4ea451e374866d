// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

namespace busbar::topo {
namespace {

/// 120 of 150 GB/s of a DGX-2, 80 of 100 of a P3 (Ren, Yoo and Hoisie); NCCL's 20 of 25 of a link.
constexpr double kEfficiency = 0.80;
/// 476 GB/s, which NCCL predicts and users measure on a DGX H100 (NVIDIA/nccl-tests#290), of 700.
constexpr double kInSwitchEfficiency = 0.68;

/// Latencies and shares of src/graph/tuning.cc of NCCL 2.20; between sockets as over PCIe. The
/// hierarchical form, which NCCL has not, has those of the ring.
// Share, and the times of launch, NVLink, PCIe, sockets and network, by Sending.
constexpr std::array<StepTimes, kSendings.size()> kSteps{{{1, 8.4, 3.4, 5.7, 5.7, 14},
                                                          {0.25, 6.6, 0.6, 1, 1, 2.7},
                                                          {0.92, 0, 28, 28, 28, 28},
                                                          {0.92 / 3.8, 6.8, 0.6, 1, 1, 5},
                                                          {1, 8.4, 3.4, 5.7, 5.7, 14},
                                                          {1, 23}}};

void fill(double& value, double missing) {
  if (value <= 0) value = missing;
}

}  // namespace

Protocol completed(Protocol known) {
  const bool silent = known.source.empty();
  fill(known.efficiency, kEfficiency);
  fill(known.in_switch_efficiency, kInSwitchEfficiency);
  if (known.algorithms.empty()) {
    known.algorithms = {Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls};
  }
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    for (double StepTimes::*const figure :
         {&StepTimes::share, &StepTimes::launch_us, &StepTimes::nvlink_us, &StepTimes::pcie_us,
          &StepTimes::smp_us, &StepTimes::network_us}) {
      fill(known.steps.at(i).*figure, kSteps.at(i).*figure);
    }
  }
  if (silent) {
    known.source =
        "defaults: 0.80 of the links (Ren, Yoo and Hoisie, arXiv 1905.08764), NCCL's times "
        "(src/graph/tuning.cc)";
  }
  return known;
}

}  // namespace busbar::topo
