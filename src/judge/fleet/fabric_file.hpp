// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/matching.hpp"

namespace busbar::judge {

/// Hosts with their paths as the CSV that --levels takes; all paths have as many units.
[[nodiscard]] std::string levels_csv(const std::vector<std::string>& hosts,
                                     const std::vector<NodePath>& paths);

/// What a file says of where hosts are in the fabric, as the CSV that --levels of the measuring
/// programs takes: host and its units from the widest to the narrowest. Reads such a CSV as it is,
/// Slurm's topology (`scontrol show topology`, topology.conf: switches or blocks), the output of
/// `ibnetdiscover`, where hosts on the same leaf switches are of one unit, and facts.csv, where
/// those of one NVLink clique are. `notes` gets what it places nowhere. Throws Error (Usage).
[[nodiscard]] std::string fabric_csv(std::string_view text, std::string_view file,
                                     std::vector<std::string>& notes);

}  // namespace busbar::judge
