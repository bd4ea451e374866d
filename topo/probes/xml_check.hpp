// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace busbar::topo {

/// The outermost element of an XML text.
struct XmlRoot {
  std::string name{};
  std::string version{};   ///< its attribute; empty where it has none
  std::size_t offset = 0;  ///< of its name in the text
};

/// Checks that a text is one whole, well-formed XML document without entities of its own. Throws
/// Error (Usage) with FILE:LINE:COLUMN where it is not; `remedy` says how to write the file anew.
[[nodiscard]] XmlRoot check_xml(const std::string& text, const std::string& origin,
                                std::string_view remedy);

/// "FILE:LINE:COLUMN" of an offset into the text, counted in bytes from 1.
[[nodiscard]] std::string place_in(std::string_view text, const std::string& origin,
                                   std::size_t offset);

}  // namespace busbar::topo
