// SPDX-License-Identifier: BSD-3-Clause
#include "format/json.hpp"

namespace busbar {
namespace {

Json without_empty_texts(Json json) {
  if (json.is_string() && json.get_ref<const std::string&>().empty()) return nullptr;
  if (json.is_structured()) {
    for (Json& member : json) member = without_empty_texts(std::move(member));
  }
  return json;
}

}  // namespace

std::string json_text(const Json& json, int indentation) {
  return without_empty_texts(json).dump(indentation, ' ', false, Json::error_handler_t::replace) +
         (indentation < 0 ? "" : "\n");
}

Json to_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;  // not finite is null in every document
        }
      },
      cell);
}

double rounded(double GBps) {
  constexpr double kSteps = 1e6;
  return std::round(GBps * kSteps) / kSteps;
}

}  // namespace busbar
