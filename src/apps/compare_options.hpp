// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/compare/comparison.hpp"

namespace busbar {

/// What `busbar compare` was asked for; values only.
struct CompareOptions {
  bool help = false;
  std::vector<std::string> before{};
  std::vector<std::string> after{};
  double threshold_percent = study::kThresholdPercent;
  std::optional<double> fail_percent{};  ///< --fail-on-slower
  bool json = false;
};

/// Reads what follows `busbar compare`. Throws a usage error of one line.
[[nodiscard]] CompareOptions parse_compare_options(std::span<char* const> arguments);

}  // namespace busbar
