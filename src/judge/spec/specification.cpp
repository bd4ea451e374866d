// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::judge {

SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system) {
  const int all = static_cast<int>(system.nodes.size());
  const auto shape = [&](int nodes) {
    return SetShape{.ranks = nodes * set.ranks_per_node, .nodes = nodes, .gpus = set.gpus};
  };
  switch (set.kind) {
    case SetKind::PerNode: return shape(1);
    case SetKind::Pairwise: return shape(2);
    case SetKind::List: return shape(static_cast<int>(set.nodes.size()));
    case SetKind::Whole: return shape(all);
    // One rank of each node; which of its GPUs differs from rail to rail.
    case SetKind::Rails: return {.ranks = all, .nodes = all};
  }
  return {};
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
