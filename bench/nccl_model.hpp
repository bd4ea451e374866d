// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/graph/protocol.hpp"

namespace busbar::topo {

/// Where a fit of times starts: src/graph/tuning.cc of NCCL 2.28; between sockets as over PCIe. The
/// hierarchical form, which NCCL does not have, has those of the ring. Direct steps, issue and
/// shares over a network are not in NCCL's model: our choice. By Sending the share, the times of
/// launch, NVLink, PCIe, sockets and network, and the share over a network.
[[nodiscard]] inline Protocol nccl_model() {
  const Protocol usual = completed({});
  return {.efficiency = usual.efficiency,
          .in_switch_efficiency = usual.in_switch_efficiency,
          .issue_us = 4.5,
          .direct_issue_us = 9,
          .channel_GBps = 20,
          .steps = {{{1, 8.4, 3.4, 5.7, 5.7, 14},
                     {0.25, 6.6, 0.6, 1, 1, 2.7, 0.1},
                     {0.92, 14, 1.9, 2.5, 2.5, 4, 0.5},
                     {0.92, 8.4, 4, 4, 4, 14},
                     {0.24, 6.8, 0.6, 1, 1, 5, 0.1},
                     {0.72, 14, 1.25, 1.9, 1.9, 8.5, 0.5},
                     {1, 8.4, 3.4, 5.7, 5.7, 14},
                     {1, 25, 0, 0, 0, 18},
                     {1, 20, 3, 3, 3, 3},
                     {0.25, 20, 2, 2, 2, 2}}}};
}

/// `own` with the times, shares and channels of `other`; its efficiencies and flows stay.
[[nodiscard]] inline Protocol with_times(Protocol own, const Protocol& other) {
  own.steps = other.steps;
  own.issue_us = other.issue_us;
  own.direct_issue_us = other.direct_issue_us;
  own.channel_GBps = other.channel_GBps;
  return own;
}

}  // namespace busbar::topo
