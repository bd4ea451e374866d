// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

namespace busbar::topo {

/// A file that is compiled in.
struct SystemText {
  std::string_view file{};  ///< "topo/systems/dgx-1v.toml"
  std::string_view text{};
};

/// The files of topo/systems by path; mk/systems.mk writes the definition.
[[nodiscard]] std::vector<SystemText> system_texts();

}  // namespace busbar::topo
