// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/row_key.hpp"
#include "model/sweep.hpp"
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
  /// The sizes of one collective in a dataset.
  struct PlannedSweep {
    std::string label{};
    std::string collective{};
    Sweep sweep{};
  };

  std::vector<PlannedSweep> sweeps_{};
  std::map<std::pair<std::string, RowKey>, std::set<Bytes>> rows_{};  ///< by label and row
};

}  // namespace busbar
