// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <cmath>
#include <type_traits>

namespace busbar {

std::string json_text(const Json& json, int indentation) {
  return json.dump(indentation, ' ', false, Json::error_handler_t::replace) +
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
