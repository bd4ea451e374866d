// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace busbar {

/// "NAME=value" of the variables that change what libraries do: NCCL_*, UCX_*, MPIR_* and the like,
/// without what a launcher sets for its own use.
[[nodiscard]] std::vector<std::string> library_environment();

}  // namespace busbar
