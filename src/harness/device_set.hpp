// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/placement.hpp"
#include "model/device.hpp"

namespace busbar {

/// What ranks run on, host by host: "cores 0-1", or "numa 0-1" where a rank is bound to no core, or
/// "processors 0-7" where one is bound to nothing; GPU indices "0,1,2,3" where there are `devices`
/// (of all ranks). Hosts that differ are joined by ";".
[[nodiscard]] std::string device_set(const Placements& placements,
                                     const std::vector<Device>& devices,
                                     std::span<const int> ranks);

}  // namespace busbar
