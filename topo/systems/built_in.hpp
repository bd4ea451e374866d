// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace busbar::topo {

/// The text of a system file and the path that messages name.
struct SystemText {
  std::string path{};
  std::string text{};
};

/// Name and aliases of a file, the name first. Throws Error (Usage).
[[nodiscard]] std::vector<std::string> names_of(const SystemText& system);

/// The files that are compiled in, by path.
[[nodiscard]] std::vector<SystemText> built_in_texts();

/// A built-in system by name or alias, in any case; or the file of this path, which ends in .toml
/// or has a '/'. Throws Error (Usage) that begins with `subject` ("--system dgx") for neither.
[[nodiscard]] SystemText find_system(const std::string& wanted, std::string_view subject);

/// Whether a text names a file.
[[nodiscard]] bool is_system_path(const std::string& text);

}  // namespace busbar::topo
