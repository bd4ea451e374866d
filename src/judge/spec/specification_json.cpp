// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/specification_json.hpp"

#include <nlohmann/json.hpp>

#include "judge/spec/specification_fields.hpp"

namespace busbar::judge {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(const T& value);

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <TableOfFields T>
Json json_of(const std::vector<T>& tables) {
  Json list = Json::array();
  for (const T& table : tables) list.push_back(json_of(table));
  return list;
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

std::string specification_json(const Specification& specification) {
  Json all{{"file", specification.file}, {"profile", specification.profile}};
  all.update(json_of(specification));
  return all.dump(2) + "\n";
}

}  // namespace busbar::judge
