// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// CSVs without a journal as observations: sets are found by the number of nodes and ranks, device
/// sets and host names; every file that fits no set is named in `notes`.
[[nodiscard]] std::vector<Observation> observe_files(const Specification& specification,
                                                     std::span<const std::string> paths,
                                                     std::vector<std::string>& notes);

}  // namespace busbar::judge
