// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/workload/rates.hpp"

namespace busbar::study {

/// The collectives whose rates SimAI's analytical mode reads.
[[nodiscard]] std::vector<std::string_view> simai_collectives();

/// SimAI's busbw.yaml: bus bandwidths in GB/s of tensor, data, expert and pipeline parallelism (its
/// AstraParamParse.hh), null where there is none. Systems are named TP, DP, EP and PP; one alone
/// stands for all. Rates are of the largest size, and of `ranks` or else of the most ranks. Throws
/// Error (Usage) for another name and where no rate is found.
[[nodiscard]] std::string simai_yaml(std::span<const SystemRates> systems,
                                     std::optional<int> ranks);

}  // namespace busbar::study
