// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

namespace busbar::topo {
namespace {

/// 476 GB/s, which NCCL predicts and users measure on a DGX H100 (NVIDIA/nccl-tests#290), of 700.
constexpr double kInSwitchEfficiency = 0.68;

/// Times of a library by Sending: the share, the times of launch, NVLink, PCIe, sockets and
/// network, and the share over a network.
using Times = std::array<StepTimes, kSendings.size()>;
/// Of every library.
constexpr double kIssueUs = 4.92;
constexpr double kDirectIssueUs = 10.9;
constexpr double kChannelGBps = 21.2;

/// Fitted to published logs by bench/simulated-ratios; by Library.
constexpr std::array<Times, kLibraries.size()> kFitted{{
    {{{1, 43.5, 7.11, 11.9, 11.9, 11},
      {0.0743, 12.3, 1.32, 2.21, 2.21, 3.46, 0.057},
      {0.538, 51.3, 2.05, 2.71, 2.71, 3.77, 0.676},
      {0.92, 43.5, 5.14, 5.14, 5.14, 15.1},
      {0.0713, 12.7, 0.514, 0.857, 0.857, 5.01, 0.057},
      {0.421, 51.3, 1.23, 1.87, 1.87, 7.91, 0.676},
      {1, 8.4, 3.4, 5.7, 5.7, 14},
      {1, 34.8, 0, 0, 0, 56.3},
      {1, 28.4, 10.1, 10.1, 10.1, 10.1},
      {0.25, 21.3, 1.99, 1.99, 1.99, 1.99}}},
    {{{1, 25.5, 3.28, 5.49, 5.49, 9.67},
      {0.092, 12.2, 1.31, 2.19, 2.19, 3.53, 0.0384},
      {0.553, 36.3, 2.3, 3.04, 3.04, 3.79, 0.582},
      {0.92, 25.5, 7.56, 7.56, 7.56, 17.7},
      {0.0883, 12.6, 0.53, 0.883, 0.883, 4.81, 0.0384},
      {0.433, 36.3, 1.17, 1.78, 1.78, 7.63, 0.582},
      {1, 8.4, 3.4, 5.7, 5.7, 14},
      {1, 30.8, 0, 0, 0, 127},
      {1, 24.8, 8.13, 8.13, 8.13, 8.13},
      {0.25, 21.3, 2, 2, 2, 2}}},
    {{{1, 27.7, 4.48, 7.5, 7.5, 11},
      {0.092, 12.3, 1.31, 2.19, 2.19, 3.46, 0.057},
      {0.553, 38.2, 2.25, 2.97, 2.97, 3.77, 0.676},
      {0.92, 27.7, 4.82, 4.82, 4.82, 15.2},
      {0.0883, 12.7, 0.547, 0.912, 0.912, 5.01, 0.057},
      {0.433, 38.2, 1.23, 1.87, 1.87, 7.91, 0.676},
      {1, 8.4, 3.4, 5.7, 5.7, 14},
      {1, 37.7, 0, 0, 0, 56.3},
      {1, 24.8, 8.13, 8.13, 8.13, 8.13},
      {0.25, 21.3, 2, 2, 2, 2}}},
}};

void fill(double& value, double missing) {
  if (value <= 0) value = missing;
}

void fill(Protocol& known, const Times& times) {
  fill(known.issue_us, kIssueUs);
  fill(known.direct_issue_us, kDirectIssueUs);
  fill(known.channel_GBps, kChannelGBps);
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (double StepTimes::*const figure :
         {&StepTimes::share, &StepTimes::launch_us, &StepTimes::nvlink_us, &StepTimes::pcie_us,
          &StepTimes::smp_us, &StepTimes::network_us, &StepTimes::network_share}) {
      fill(known.steps.at(i).*figure, times.at(i).*figure);
    }
  }
}

}  // namespace

Protocol completed(Protocol known) {
  const bool silent = known.source.empty();
  fill(known.efficiency, kEfficiency);
  fill(known.in_switch_efficiency, kInSwitchEfficiency);
  if (known.algorithms.empty()) {
    known.algorithms = {Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls};
  }
  fill(known, kFitted.at(static_cast<std::size_t>(known.library.value_or(Library::Nccl226))));
  if (silent) {
    known.source =
        "defaults: 0.80 of the links (Ren, Yoo and Hoisie, arXiv 1905.08764), times fitted to "
        "published logs (docs/simulation.md)";
  }
  return known;
}

}  // namespace busbar::topo
