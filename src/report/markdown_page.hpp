// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "report/document.hpp"

namespace busbar {

/// The document's words and tables as GitHub's Markdown, without its pictures.
[[nodiscard]] std::string markdown_page(const Document& document);

}  // namespace busbar
