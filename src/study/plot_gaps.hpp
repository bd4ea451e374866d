// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "study/dataset.hpp"

namespace busbar {

/// The sizes that the datasets meant to measure, so that a curve knows where one is missing.
class PlannedSizes {
 public:
  explicit PlannedSizes(std::span<const Dataset> datasets);

  /// Whether a size between these two neighbours of a curve was planned: by the head's
  /// "sizes=FIRST-LASTxFACTOR" or "+STEP", or by a row without a value.
  [[nodiscard]] bool missing_between(const CurveKey& key, Bytes below, Bytes above) const;

 private:
  struct Sweep {
    std::string label{};
    std::string collective{};
    double first = 0;
    double last = 0;
    double factor = 0;  ///< 0 where sizes rise by steps
    double step = 0;
  };
  using RowKey = std::tuple<std::string, std::string, std::string, std::string, int, bool, Bytes>;

  void add_sweep(const Dataset& dataset);
  [[nodiscard]] static bool planned(const Sweep& sweep, double below, double above);

  std::vector<Sweep> sweeps_{};
  std::set<RowKey> rows_{};
};

}  // namespace busbar
