// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {

/// A value of an enum and its text. Beside an enum E stands its one list of names, in which no
/// value is missing: `constexpr auto enum_names(E) { return std::array{Named{E::A, "a"}, ...}; }`.
template <class Enum>
struct Named {
  Enum value;
  std::string_view text;
};
template <class Enum>
Named(Enum, std::string_view) -> Named<Enum>;

template <class Enum>
concept NamedEnum = requires(Enum value) {
  enum_names(value);
};

/// The text of a value; empty for a value without a name.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view name(Enum value) {
  for (const auto& one : enum_names(value)) {
    if (one.value == value) return one.text;
  }
  return {};
}

/// All values that have names, in the order of the list.
template <NamedEnum Enum>
[[nodiscard]] constexpr auto all_values() {
  constexpr auto kNames = enum_names(Enum{});
  std::array<Enum, kNames.size()> values{};
  std::ranges::transform(kNames, values.begin(), [](const auto& one) { return one.value; });
  return values;
}

/// The value that has this text.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> find_value(std::string_view text) {
  for (const auto& one : enum_names(Enum{})) {
    if (one.text == text) return one.value;
  }
  return {};
}

template <NamedEnum Enum>
[[nodiscard]] std::vector<std::string> all_names() {
  return mapped<std::string>(enum_names(Enum{}), &Named<Enum>::text);
}

/// A value that is none of the few that an option may have.
class InvalidValue : public Error {
 public:
  InvalidValue(const std::string& message, std::span<const std::string> expected)
      : Error(Status::Usage, message), expected_(expected.begin(), expected.end()) {}

  [[nodiscard]] const std::vector<std::string>& expected() const { return expected_; }

 private:
  std::vector<std::string> expected_;
};

/// "invalid value 'foo' for --format; expected svg or png"
[[nodiscard]] InvalidValue invalid_value(std::string_view option, std::string_view text,
                                         std::span<const std::string> expected);

/// The value that has this text; throws invalid_value.
template <NamedEnum Enum>
[[nodiscard]] Enum parse_value(std::string_view option, std::string_view text) {
  if (const auto value = find_value<Enum>(text)) return *value;
  throw invalid_value(option, text, all_names<Enum>());
}

}  // namespace busbar
