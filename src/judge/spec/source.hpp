// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace busbar::judge {

inline constexpr std::string_view kSpecificationDocument = "docs/acceptance-specification.md";

/// The text of a specification and the path that messages name.
struct SpecificationSource {
  std::string path{};
  std::string text{};
};

/// A file, or else the ready-made specification of that name. Throws Error (Usage).
[[nodiscard]] SpecificationSource find_specification(const std::string& name);

/// Whether there is a ready-made specification of this name.
[[nodiscard]] bool is_ready_made(const std::string& name);

/// The table of a specification with what it takes from the one that it is based on (`based_on`);
/// every value knows the file that it is from. `depth`: how many are based on this one. Throws
/// Error (Usage).
[[nodiscard]] toml::table complete_table(std::string_view text, const std::string& origin,
                                         int depth = 0);

/// The specification as one text that is based on no other.
[[nodiscard]] std::string complete_text(const SpecificationSource& source);

}  // namespace busbar::judge
