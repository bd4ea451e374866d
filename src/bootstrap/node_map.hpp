// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

namespace busbar {

/// The node of each rank; nodes are numbered by their lowest rank.
struct NodeMap {
  std::vector<int> of_rank{};
  int count = 0;

  /// Ranks with the same mark are on one node.
  template <class Mark>
  [[nodiscard]] static NodeMap numbered(const std::vector<Mark>& marks) {
    NodeMap nodes;
    std::map<Mark, int> known;
    for (const Mark& mark : marks) {
      const auto next = static_cast<int>(known.size());
      nodes.of_rank.push_back(known.try_emplace(mark, next).first->second);
    }
    nodes.count = static_cast<int>(known.size());
    return nodes;
  }
};

}  // namespace busbar
