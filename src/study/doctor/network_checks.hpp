// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/doctor/host_check.hpp"

namespace busbar::study {

using HostFindings = std::vector<HostFinding>;

/// @name Checks of adapters, and of what NCCL does with the network: of the table of checks
/// @{
[[nodiscard]] HostFindings check_gids(const HostView& view);
[[nodiscard]] HostFindings check_interfaces(const HostView& view);
[[nodiscard]] HostFindings check_network_plugin(const HostView& view);
[[nodiscard]] HostFindings check_gpudirect(const HostView& view);
/// @}

/// @name For all checks
/// @{
[[nodiscard]] HostFindings not_looked(std::string why);
/// The values of a fact by their instances; a variable of NCCL is a fact, too.
[[nodiscard]] std::map<std::string, std::string> instances_of(const HostView& view,
                                                              std::string_view fact);
/// "gpu0, gpu1, gpu2 and 5 more"
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);
/// Ports of RDMA that are linked to a fabric: "mlx5_0:1".
[[nodiscard]] std::vector<std::string> active_ports(const HostView& view);
/// @}

}  // namespace busbar::study
