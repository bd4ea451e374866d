// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::judge {

SetShape shape_of(const DeviceSetRule& set, std::size_t nodes) {
  const int count = static_cast<int>(nodes);
  if (set.kind == SetKind::Rails) return {.ranks = count, .nodes = count};
  return {.ranks = count * set.ranks_per_node, .nodes = count, .gpus = set.gpus};
}

SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system) {
  if (set.kind == SetKind::PerNode) return shape_of(set, 1);
  if (set.kind == SetKind::Pairwise) return shape_of(set, 2);
  return shape_of(set, (set.kind == SetKind::List ? set.nodes : system.nodes).size());
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
