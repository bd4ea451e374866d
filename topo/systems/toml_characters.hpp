// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace busbar::topo {

/// Throws Error (Usage) with origin:line:column where a text has what toml++ 3.3 is not safe
/// against: characters beyond ASCII outside of quotes and comments (undefined behaviour there), and
/// quotes over several lines, which no system file needs.
void check_toml_characters(std::string_view text, std::string_view origin);

}  // namespace busbar::topo
