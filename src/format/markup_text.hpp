// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace busbar {

/// The text for an element or a quoted attribute of HTML, XML or SVG: markup is escaped; what is no
/// UTF-8, or a control character that XML has not, becomes U+FFFD.
[[nodiscard]] std::string markup_text(std::string_view text);

/// The text with markup as it is, for writers that escape it themselves: what is no UTF-8, or a
/// control character that XML has not, becomes U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text);

/// The text for a line or a table's cell of Markdown: markup, of Markdown and of HTML, is escaped;
/// line ends become blanks.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// A file's path as a reference to it: what is no letter, digit or one of "-._~/" as %XX.
[[nodiscard]] std::string url_path(std::string_view path);

/// A picture for a page: it scales, and has a title for those who do not see it. `body` is markup.
[[nodiscard]] std::string svg_element(const std::string& width, const std::string& height,
                                      std::string_view title, std::string_view body);

/// An id of letters, digits and hyphens: "dgx-1v", "my-box".
[[nodiscard]] std::string markup_id(std::string_view text);

}  // namespace busbar
