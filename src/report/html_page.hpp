// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "report/document.hpp"

namespace busbar {

/// One HTML5 page that is well-formed XML too and needs nothing besides itself: no script, no
/// network, no attribute of style, so that the strictest content policy lets it through.
[[nodiscard]] std::string html_page(const Document& document);

/// The page's style sheet: for wide screens, phones and paper.
[[nodiscard]] std::string_view html_style();

}  // namespace busbar
