// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/dataset.hpp"

namespace busbar::study {

/// What makes a row of one launch and a row of another the same measurement.
struct RowKey {
  std::string collective{};
  std::string type{};
  std::string op{};
  std::optional<int> root{};
  int ranks = 0;
  std::optional<int> group{};
  std::optional<int> sender{};
  std::optional<int> receiver{};
  Bytes size = 0;
  bool in_place = false;

  [[nodiscard]] auto operator<=>(const RowKey&) const = default;
};

/// A measurement in one launch: medians over its cycles, in microseconds and GB/s.
struct LaunchRow {
  double time_us = 0;
  std::optional<double> ci_low_us{};
  std::optional<double> ci_high_us{};
  std::optional<double> busbw_GBps{};
};

/// The same measurement in all launches of a group that have it.
using LaunchRows = std::map<RowKey, std::vector<LaunchRow>>;

/// Rows with a time and right data, by what they measure. Every dataset is a launch. An interval
/// stays only where a launch has one row of the measurement.
[[nodiscard]] LaunchRows launch_rows(std::span<const Dataset> launches);

}  // namespace busbar::study
