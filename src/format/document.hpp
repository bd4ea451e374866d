// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
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

/// How a thing stands. Its name is its class in HTML, which has the colour.
enum class Tone { Neutral, Good, Bad, Doubtful, Unknown, Absent };

constexpr auto enum_names(Tone) {
  return std::array{Named{Tone::Neutral, "neutral"}, Named{Tone::Good, "good"},
                    Named{Tone::Bad, "bad"},         Named{Tone::Doubtful, "doubtful"},
                    Named{Tone::Unknown, "unknown"}, Named{Tone::Absent, "absent"}};
}

/// Many things of few states, a small cell for each; forms without colours have the states alone.
struct Strip {
  struct State {
    Tone tone = Tone::Neutral;
    std::string text{};  ///< "failed (1): node17", of the legend
  };
  struct Cell {
    std::string name{};
    std::size_t state = 0;  ///< number in `states`
    std::string more{};     ///< for a pointer that rests on the cell
  };
  std::vector<State> states{};
  std::vector<Cell> cells{};
};

using DocumentBlock = std::variant<Paragraph, Bullets, Table, Figure, Strip>;

struct Section {
  int level = 2;     ///< of its heading: 2, 3 or 4
  std::string id{};  ///< letters, digits and hyphens; unique
  std::string heading{};
  std::vector<DocumentBlock> blocks{};
};

/// Title, answer and lead are a banner in the colour of the tone.
struct Document {
  std::string title{};
  std::string verdict{};  ///< a word ahead of the title, "FAIL"; empty: there is none to give
  Tone tone = Tone::Neutral;
  std::string answer{};  ///< what a reader must know who reads one sentence; may be empty
  std::string lead{};    ///< one paragraph below them
  std::vector<Section> sections{};
};
/// @}

/// One HTML5 page that is well-formed XML too and needs nothing besides itself: no script, no
/// network, no attribute of style, so that the strictest content policy lets it through. Its style
/// sheet is document.css: light and dark, for wide screens with the contents at the side, for
/// phones with the contents at the end, and for paper without.
[[nodiscard]] std::string html_page(const Document& document);

/// The document's words and tables as GitHub's Markdown, without its pictures.
[[nodiscard]] std::string markdown_page(const Document& document);

}  // namespace busbar
