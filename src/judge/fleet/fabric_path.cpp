// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fabric_path.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kCutPrefix = "links ";

}  // namespace

bool is_of_unit(const NodePath& node, const NodePath& unit) {
  return node.size() >= unit.size() && std::equal(unit.begin(), unit.end(), node.begin());
}

bool crosses(const NodePath& first, const NodePath& second, const UnitFinding& path) {
  const bool is_first = is_of_unit(first, path.unit);
  const bool is_second = is_of_unit(second, path.unit);
  if (is_first == is_second) return false;
  return path.other.empty() || is_of_unit(is_first ? second : first, path.other);
}

bool crosses_any(const NodePath& first, const NodePath& second,
                 const std::vector<UnitFinding>& paths) {
  return std::ranges::any_of(paths,
                             [&](const UnitFinding& path) { return crosses(first, second, path); });
}

std::string path_name(const UnitFinding& path) {
  if (path.other.empty()) return "uplink " + join(path.unit, "/");
  return join(path.unit, "/") + "-" + join(path.other, "/");
}

std::string cut_name(const UnitFinding& path) {
  return fmt::format("{}{} - {}", kCutPrefix, join(path.unit, "/"), join(path.other, "/"));
}

bool is_cut_name(std::string_view name) { return name.starts_with(kCutPrefix); }

}  // namespace busbar::judge
