// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace busbar::topo {

/// One direction of a link, for flows. Node numbers are any numbers from 0.
struct FlowLink {
  int from = 0;
  int to = 0;
  double capacity = 0;  ///< may be infinite
};

/// What crosses from one part of the terminals to the other.
struct Cut {
  double value = 0;          ///< sum over `links`; infinite where no limited cut exists
  std::vector<int> links{};  ///< places in the list of links; empty where `value` is infinite
};

/// The least cut in one direction that parts the terminals (at least two, all different), by
/// maximum flow between the first and each other one, both ways: no algorithm passes it.
[[nodiscard]] Cut minimum_cut(std::span<const FlowLink> links, std::span<const int> terminals);

}  // namespace busbar::topo
