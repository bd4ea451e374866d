// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {

/// No packing of rings carries more: the least over devices of what can leave one and of what can
/// reach one. A microsecond for eight devices; 0 where a device has no way in or out; infinite
/// where nothing is known to limit one.
[[nodiscard]] double quick_upper(const RingProblem& problem);

/// What can leave a device, or reach it, and the resources that say so.
struct DeviceUpper {
  double value = 0;
  std::vector<int> resources{};
};
[[nodiscard]] DeviceUpper leaving_upper(const RingProblem& problem, int device);
[[nodiscard]] DeviceUpper reaching_upper(const RingProblem& problem, int device);

}  // namespace busbar::topo
