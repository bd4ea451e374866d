// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification.hpp"

#include "format/json.hpp"
#include "judge/spec/field_reader.hpp"

namespace busbar::judge {
namespace {

template <class T>
Json json_of(const T& value);

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <TableOfFields T>
Json json_of(const std::vector<T>& tables) {
  return json_array(tables, [](const T& table) { return json_of(table); });
}

template <class T>
Json json_of(const T& value) {
  if constexpr (NamedEnum<T>) {
    return name(value);
  } else if constexpr (TableOfFields<T>) {
    Json table = Json::object();
    visit_fields(value, [&](std::string_view key, const auto& field, const FieldCheck& check = {}) {
      Json member = json_of(field);
      if (check.json.empty() && !check.if_true.empty()) {
        member = member == Json(true) ? check.if_true : check.if_false;
      }
      table[std::string(check.json.empty() ? key : check.json)] = std::move(member);
    });
    return table;
  } else {
    return value;
  }
}

}  // namespace

SetShape shape_of(const DeviceSetRule& set, std::size_t nodes) {
  const int count = static_cast<int>(nodes);
  if (set.kind == SetKind::Rails) return {.ranks = count, .nodes = count};
  return {.ranks = count * set.ranks_per_node, .nodes = count, .gpus = set.gpus};
}

SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system) {
  if (set.kind == SetKind::PerNode) return shape_of(set, 1);
  if (set.kind == SetKind::Pairwise) return shape_of(set, 2);
  return shape_of(set, system.nodes.size());
}

const DeviceSetRule& Specification::device_set(std::string_view id) const {
  return *find_by(device_sets, id, &DeviceSetRule::id);
}

bool Specification::needs_baseline() const {
  return any_has(rules, RuleKind::Baseline, &Rule::compare);
}

std::string specification_json(const Specification& specification) {
  Json all{{"file", specification.file}, {"profile", specification.profile}};
  all.update(json_of(specification));
  return all.dump(2) + "\n";
}

}  // namespace busbar::judge
