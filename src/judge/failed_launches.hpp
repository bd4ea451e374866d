// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "judge/checked_row.hpp"
#include "judge/observation.hpp"

namespace busbar::judge {

/// What launches of a pairwise set without data say of its nodes.
class FailedLaunches {
 public:
  /// Of one set and collective.
  FailedLaunches(const std::string& device_set, const std::string& collective,
                 std::span<const Observation> observations, std::span<const std::string> nodes);

  /// Launches that failed with a node; of one with good launches those that no other node explains.
  [[nodiscard]] const std::vector<LaunchFailure>& failures_of(std::size_t node) const {
    return nodes_[node].failures;
  }

  /// A FAIL of nodes that launches hang or crash with while those without them go well: the one
  /// that a launch names, one that then does not answer, or one with which most do, `fewest` at
  /// least. An ERROR of others that do not answer. `rows`: of each node.
  void judge(std::span<CheckedRow> rows, int fewest) const;

 private:
  struct NodeLaunches {
    std::size_t good = 0;
    std::size_t crashed = 0;  ///< and no other node was named
    bool named = false;       ///< by a launch that hung or crashed
    std::string silent{};     ///< how it does not answer
    std::string quoted{};     ///< the first launch that hung or crashed with it
    std::vector<LaunchFailure> failures{};

    void count(const Observation& launch, const std::string& name);
  };

  std::vector<NodeLaunches> nodes_;
  std::size_t good_ = 0;  ///< launches
};

}  // namespace busbar::judge
