// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/choice/choose.hpp"
#include "topo/choice/ranking.hpp"

namespace busbar::topo {

/// "100 GB/s", or "12 GB/s without an NVLink ring".
[[nodiscard]] std::string describe(const Figures& figures);

/// Why a policy took this set: one line.
[[nodiscard]] std::string reason_of(const Ranked& ranked, Policy policy);

}  // namespace busbar::topo
