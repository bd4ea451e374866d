// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/json_values.hpp"

#include <cmath>

namespace busbar::study {

std::optional<Printed> json_number(const Json& object, const char* key, double half_unit) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return Printed{.value = value, .half_unit = half_unit};
}

std::optional<std::uint64_t> json_count(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string json_word(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_string()) return std::string(trim(found->get<std::string>()));
  return found->is_number_integer() ? found->dump() : std::string{};
}

}  // namespace busbar::study
