// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace busbar {

/// A file of the project that is compiled into the programs; mk/texts.mk lists them.
struct EmbeddedText {
  std::string_view path{};  ///< from the project's root: "topo/systems/dgx-1v.toml"
  std::string_view text{};
};

/// The text of a path, or nothing where it is not compiled in.
[[nodiscard]] std::string_view embedded_text(std::string_view path);

/// The texts right in a folder, by path: "plots".
[[nodiscard]] std::vector<EmbeddedText> embedded_texts(std::string_view folder);

/// The project's version: "0.1.0".
[[nodiscard]] std::string_view version();

/// All of them, by path; tools/embed-texts writes the definition.
[[nodiscard]] std::span<const EmbeddedText> all_embedded_texts();

}  // namespace busbar
