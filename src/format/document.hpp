// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "format/chart.hpp"
#include "format/table.hpp"

namespace busbar {

/// @name What a report is made of, the same for every form; all text is plain and is escaped by the
/// writer of the form
/// @{
struct Paragraph {
  std::string text{};
  bool warning = false;  ///< set apart, and begins with "Warning:"
};

struct Bullets {
  std::vector<std::string> items{};
};

/// A picture for forms that have pictures; the others leave it out, since tables have its values.
struct Figure {
  Chart chart{};      ///< drawn by draw_charts; empty: `svg` is there from the start
  std::string svg{};  ///< one svg element, safe as it is; empty: left out
  std::string caption{};
  bool wide = false;  ///< takes a line of its own and scrolls where it does not fit
};

using DocumentBlock = std::variant<Paragraph, Bullets, Table, Figure>;

struct Section {
  int level = 2;     ///< of its heading: 2, 3 or 4
  std::string id{};  ///< letters, digits and hyphens; unique
  std::string heading{};
  std::vector<DocumentBlock> blocks{};
};

struct Document {
  std::string title{};
  std::string lead{};  ///< one paragraph below the title
  std::vector<Section> sections{};
};
/// @}

/// One HTML5 page that is well-formed XML too and needs nothing besides itself: no script, no
/// network, no attribute of style, so that the strictest content policy lets it through. Its style
/// sheet is document.css: for wide screens, phones and paper.
[[nodiscard]] std::string html_page(const Document& document);

/// The document's words and tables as GitHub's Markdown, without its pictures.
[[nodiscard]] std::string markdown_page(const Document& document);

}  // namespace busbar
