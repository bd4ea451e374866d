// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// The hosts of a list as Slurm writes it, "n[001-003,7],login1", in its order. Throws a usage
/// error that begins with `place` where brackets or ranges are wrong, or beyond a million hosts.
[[nodiscard]] std::vector<std::string> expand_hostlist(std::string_view place,
                                                       std::string_view list);

/// Host names as one such list, for `sbatch -w` and `-x`: names that differ in their last number
/// are together, sorted by it; "" for none.
[[nodiscard]] std::string hostlist(const std::vector<std::string>& hosts);

}  // namespace busbar
