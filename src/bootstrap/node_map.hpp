// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/host.hpp"
#include "base/lists.hpp"
#include "base/text.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// The node of each rank; nodes are numbered by their lowest rank.
struct NodeMap {
  std::vector<int> of_rank{};
  int count = 0;

  /// That of some of the ranks, in this order.
  [[nodiscard]] NodeMap among(std::span<const int> ranks) const {
    return numbered(
        mapped(ranks, [this](int rank) { return of_rank[static_cast<std::size_t>(rank)]; }));
  }

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

/// Ranks are on one node that have the kernel and the host's name in common: containers of a host
/// with names of their own are hosts of their own. Collective.
[[nodiscard]] inline NodeMap map_nodes(Bootstrap& bootstrap) {
  std::array<char, 192> mine{};
  copy_text(fmt::format("{} {}", boot_id().data(), host_name()), mine);
  return NodeMap::numbered(bootstrap.gather(mine));
}

}  // namespace busbar
