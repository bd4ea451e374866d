// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// --vary: a setting whose values take turns at each row.
struct Vary {
  std::string name{};                 ///< of an option, or as the library has it
  std::vector<std::string> values{};  ///< at least two; "default": as the setting is anyway

  [[nodiscard]] bool operator==(const Vary& other) const = default;
};

inline constexpr std::string_view kDefaultValue = "default";

/// Reads NAME=a,b; throws a usage error that begins with `option`.
[[nodiscard]] Vary parse_vary(std::string_view option, std::string_view text);
[[nodiscard]] std::string to_text(const Vary& vary);
/// "NAME=a": the column `variant`.
[[nodiscard]] std::string variant_text(const Vary& vary, std::size_t number);

}  // namespace busbar
