// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/record.hpp"

namespace busbar {

/// Who was last to arrive at a sample's operations. They end at the same time for all ranks, so it
/// is the rank whose own time is the shortest.
struct Arrival {
  int last = 0;        ///< rank among those of the row
  double late_us = 0;  ///< longest time of a rank less shortest
};

/// A measured row and its samples, in the order of time.
struct Row {
  Record record{};
  std::vector<double> samples_us{};
  std::vector<Arrival> arrivals{};  ///< of each sample; none where operations have no common end
  /// In sentences: of a row that lasted long (--duration) what happened and what checks prove, of
  /// unequal parts what each rank had.
  std::vector<std::string> findings{};
  /// Times of all ranks, of each sample; empty unless they were asked for.
  std::vector<std::vector<double>> rank_times_us{};
};

}  // namespace busbar
