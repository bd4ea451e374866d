// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "topo/assemble/sources.hpp"

namespace busbar::topo {

/// The first contradiction between two sources, which shows that they are of different machines:
/// other GPUs, other models, or NVLinks that cannot be both. Nothing where they agree.
[[nodiscard]] std::optional<std::string> contradiction(const Sources& sources);

}  // namespace busbar::topo
