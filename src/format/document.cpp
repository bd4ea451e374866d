// SPDX-License-Identifier: BSD-3-Clause
#include "format/document.hpp"

#include "base/embedded_text.hpp"
#include "format/markup_text.hpp"

namespace busbar {
namespace {

/// What a cell has beside its colour, which not all see.
std::string_view mark_of(Tone tone) {
  constexpr std::array<std::string_view, 6> kMarks{"", "", "\xC3\x97", "!", "?", "\xE2\x80\x93"};
  return kMarks.at(static_cast<std::size_t>(tone));
}

struct HtmlBlocks {
  std::string operator()(const Paragraph& block) const {
    if (!block.warning) return fmt::format("<p>{}</p>\n", markup_text(block.text));
    return fmt::format("<p class=\"warning\"><strong>Warning:</strong> {}</p>\n",
                       markup_text(block.text));
  }

  std::string operator()(const Bullets& block) const {
    if (block.items.empty()) return {};
    return fmt::format("<ul>\n{}</ul>\n", join_each(block.items, "", [](const std::string& item) {
                         return fmt::format("<li>{}</li>\n", markup_text(item));
                       }));
  }

  /// The first cell of a row is its heading. Sentences need room, also on a phone, where their
  /// table scrolls.
  std::string operator()(const Table& block) const {
    const std::vector<bool> numeric = number_columns(block);
    const std::string caption = markup_text(block.caption);
    std::string text = fmt::format("{}<table>\n<caption>{}</caption>\n<thead><tr>",
                                   scroll_begin("Table: " + caption), caption);
    for (std::size_t i = 0; i < block.columns.size(); ++i) {
      text += fmt::format("<th scope=\"col\"{}>{}</th>", numeric[i] ? " class=\"number\"" : "",
                          markup_text(block.columns[i]));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      text += row_text(block.rows[i], numeric, i < block.links.size() ? block.links[i] : "");
    }
    return text + "</tbody>\n</table>\n</div>\n";
  }

  /// Narrow figures that follow one another stand side by side where there is room.
  std::string operator()(const Figure& block) const {
    if (block.svg.empty()) return {};
    return fmt::format("<figure{}>\n{}{}\n{}<figcaption>{}</figcaption>\n</figure>\n",
                       block.wide ? " class=\"wide\"" : "",
                       block.wide ? scroll_begin("Figure") : "", block.svg,
                       block.wide ? "</div>\n" : "", markup_text(block.caption));
  }

  /// Few cells have their names, many only their marks.
  std::string operator()(const Strip& block) const {
    constexpr std::size_t kMostNamed = 64;
    const bool named = block.cells.size() <= kMostNamed;
    std::string text = fmt::format("<ul class=\"strip{}\">\n", named ? " named" : "");
    for (const Strip::Cell& cell : block.cells) {
      const Tone tone = block.states.at(cell.state).tone;
      const std::string_view mark = mark_of(tone);
      const std::string title = markup_text(cell.name + ": " + cell.more);
      text += fmt::format("<li class=\"{}\" title=\"{}\">{}{}{}</li>\n", name(tone), title, mark,
                          named && !mark.empty() ? " " : "", named ? markup_text(cell.name) : "");
    }
    text += "</ul>\n<ul class=\"key\">\n";
    for (const Strip::State& state : block.states) {
      text += fmt::format("<li><span class=\"{}\">{}</span>{}</li>\n", name(state.tone),
                          mark_of(state.tone), markup_text(state.text));
    }
    return text + "</ul>\n";
  }

 private:
  static std::string scroll_begin(const std::string& label) {
    return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n",
                       label);
  }

  static std::string row_text(const std::vector<std::string>& row, const std::vector<bool>& numeric,
                              const std::string& link) {
    constexpr std::size_t kSentence = 30;
    std::string text = "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i].empty() ? "\xE2\x80\x93" : markup_text(row[i]);
      if (i == 0 && !link.empty()) {
        cell = fmt::format("<a href=\"{}\">{}</a>", url_path(link), cell);
      }
      text += fmt::format("<{0}{1}>{2}</{3}>", i == 0 ? "th scope=\"row\"" : "td",
                          numeric[i]                  ? " class=\"number\""
                          : row[i].size() > kSentence ? " class=\"words\""
                                                      : "",
                          cell, i == 0 ? "th" : "td");
    }
    return text + "</tr>\n";
  }
};

struct MarkdownBlocks {
  std::string operator()(const Paragraph& block) const {
    return fmt::format("{}{}\n\n", block.warning ? "**Warning:** " : "", markdown_text(block.text));
  }

  std::string operator()(const Bullets& block) const {
    if (block.items.empty()) return {};
    return join_each(
               block.items, "",
               [](const std::string& item) { return fmt::format("- {}\n", markdown_text(item)); }) +
           "\n";
  }

  std::string operator()(const Table& block) const {
    return fmt::format("{}\n\n{}\n", markdown_text(block.caption), markdown_table(block));
  }

  std::string operator()(const Figure& /*block*/) const { return {}; }

  std::string operator()(const Strip& block) const {
    return (*this)(Bullets{.items = mapped(block.states, &Strip::State::text)});
  }
};

template <class Blocks>
std::string blocks_text(const Section& section, const Blocks& blocks) {
  std::string text;
  for (const DocumentBlock& block : section.blocks) text += std::visit(blocks, block);
  return text;
}

/// Between an entry of one level and the next, of 2 or 3; a level of 1 is before and behind all.
std::string_view between_entries(int from, int to) {
  if (from == 1 || (from == 3 && to == 3)) return "";
  if (to == 3) return "\n<ul>\n";
  return from == 3 ? "</ul>\n</li>\n" : "</li>\n";
}

/// The headings of level 2; those of level 3 as a list of their own in the one before.
std::string contents(const Document& document) {
  std::string text = "<nav aria-label=\"Contents\">\n<h2 id=\"contents\">Contents</h2>\n<ul>\n";
  int level = 1;
  for (const Section& section : document.sections) {
    if (section.level > 3) continue;
    text += between_entries(level, section.level);
    level = section.level;
    text += fmt::format("<li><a href=\"#{}\">{}</a>{}", section.id, markup_text(section.heading),
                        level == 3 ? "</li>\n" : "");
  }
  return fmt::format("{}{}</ul>\n</nav>\n", text, between_entries(level, 1));
}

std::string title_of(const Document& document) {
  return document.verdict.empty() ? document.title : document.verdict + ": " + document.title;
}

std::string banner(const Document& document) {
  std::string text = fmt::format("<header class=\"{}\">\n<h1>", name(document.tone));
  if (!document.verdict.empty()) {
    text += fmt::format("<span class=\"verdict\">{}</span> ", markup_text(document.verdict));
  }
  text += markup_text(document.title) + "</h1>\n";
  if (!document.answer.empty()) {
    text += fmt::format("<p class=\"answer\">{}</p>\n", markup_text(document.answer));
  }
  return text + fmt::format("<p class=\"lead\">{}</p>\n</header>\n", markup_text(document.lead));
}

}  // namespace

std::string html_page(const Document& document) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}<main>\n",
      markup_text(title_of(document)), embedded_text("src/format/document.css"), banner(document));
  for (const Section& section : document.sections) {
    text += fmt::format(
        "<section aria-labelledby=\"{0}\">\n<h{1} id=\"{0}\">{2}</h{1}>\n{3}"
        "</section>\n",
        section.id, section.level, markup_text(section.heading),
        blocks_text(section, HtmlBlocks{}));
  }
  return text + "</main>\n" + contents(document) + "</body>\n</html>\n";
}

std::string markdown_page(const Document& document) {
  std::string text = fmt::format("# {}\n\n", markdown_text(title_of(document)));
  if (!document.answer.empty()) text += fmt::format("**{}**\n\n", markdown_text(document.answer));
  text += markdown_text(document.lead) + "\n\n";
  for (const Section& section : document.sections) {
    text += fmt::format("{} {}\n\n{}", std::string(static_cast<std::size_t>(section.level), '#'),
                        markdown_text(section.heading), blocks_text(section, MarkdownBlocks{}));
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace busbar
