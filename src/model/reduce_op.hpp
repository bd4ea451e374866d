// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

namespace busbar {

/// Reduction operations; None is for collectives that only move data.
enum class ReduceOp { Sum, Prod, Max, Min, Avg, None };

inline constexpr std::array<std::string_view, 6> kOpNames{"sum", "prod", "max",
                                                          "min", "avg",  "none"};

[[nodiscard]] constexpr std::string_view name(ReduceOp op) {
  return kOpNames[static_cast<std::size_t>(op)];
}

}  // namespace busbar
