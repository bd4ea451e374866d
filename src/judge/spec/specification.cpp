// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::judge {

std::string_view name(Metric metric) {
  constexpr std::array<std::string_view, 3> kNames{"busbw", "algbw", "time_us"};
  return kNames.at(static_cast<std::size_t>(metric));
}

std::string_view unit(Metric metric) { return metric == Metric::Time ? "us" : "GB/s"; }

std::string_view name(Statistic statistic) {
  constexpr std::array<std::string_view, 6> kNames{"median", "mean", "min", "p90", "p99", "max"};
  return kNames.at(static_cast<std::size_t>(statistic));
}

std::string_view name(Comparison comparison) {
  constexpr std::array<std::string_view, 4> kNames{"absolute", "theoretical", "baseline", "fleet"};
  return kNames.at(static_cast<std::size_t>(comparison));
}

std::string_view name(SetKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"per_node", "pairwise", "rails", "whole",
                                                   "list"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const DeviceSetRule& Specification::device_set(std::string_view id) const {
  const auto found = std::find_if(device_sets.begin(), device_sets.end(),
                                  [&](const DeviceSetRule& set) { return set.id == id; });
  if (found == device_sets.end()) {
    throw usage_error(fmt::format("{}: there is no [[device_set]] with id = \"{}\"", file, id));
  }
  return *found;
}

}  // namespace busbar::judge
