// SPDX-License-Identifier: BSD-3-Clause
#include "report/document.hpp"

#include <span>

#include <fmt/format.h>

#include "report/markup_text.hpp"

namespace busbar {
namespace {

constexpr std::string_view kDash = "\xE2\x80\x93";

std::string paragraph(const Paragraph& block) {
  if (!block.warning) return fmt::format("<p>{}</p>\n", markup_text(block.text));
  return fmt::format("<p class=\"warning\"><strong>Warning:</strong> {}</p>\n",
                     markup_text(block.text));
}

std::string bullets(const Bullets& block) {
  if (block.items.empty()) return {};
  std::string text = "<ul>\n";
  for (const std::string& item : block.items) {
    text += fmt::format("<li>{}</li>\n", markup_text(item));
  }
  return text + "</ul>\n";
}

/// Sentences need room, also on a phone, where their table scrolls.
std::string_view cell_class(bool number, const std::string& cell) {
  constexpr std::size_t kSentence = 40;
  if (number) return " class=\"number\"";
  return cell.size() > kSentence ? " class=\"words\"" : "";
}

/// The first cell of a row is its heading.
std::string table_row(const std::vector<bool>& numeric, const std::vector<std::string>& row) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string_view attribute = cell_class(numeric[i], row[i]);
    const std::string cell = row[i].empty() ? std::string(kDash) : markup_text(row[i]);
    text += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attribute, cell)
                   : fmt::format("<td{}>{}</td>", attribute, cell);
  }
  return text + "</tr>\n";
}

std::string table(const Table& block) {
  const std::string caption = markup_text(block.caption);
  std::string text = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {}\">\n<table>\n"
      "<caption>{}</caption>\n<thead><tr>",
      caption, caption);
  const std::vector<bool> numeric = number_columns(block);
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", numeric[i] ? " class=\"number\"" : "",
                        markup_text(block.columns[i]));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : block.rows) text += table_row(numeric, row);
  return text + "</tbody>\n</table>\n</div>\n";
}

std::string figure(const Figure& block) {
  const std::string caption = markup_text(block.caption);
  if (!block.wide) {
    return fmt::format("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n", block.svg,
                       caption);
  }
  return fmt::format(
      "<figure class=\"wide\">\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Figure\">\n{}\n</div>\n<figcaption>{}</figcaption>\n</figure>\n",
      block.svg, caption);
}

bool stands_beside(const Block& block) {
  const auto* picture = std::get_if<Figure>(&block);
  return picture != nullptr && !picture->wide;
}

std::string block_text(const Block& block) {
  if (const auto* words = std::get_if<Paragraph>(&block)) return paragraph(*words);
  if (const auto* list = std::get_if<Bullets>(&block)) return bullets(*list);
  if (const auto* rows = std::get_if<Table>(&block)) return table(*rows);
  return figure(std::get<Figure>(block));
}

/// Narrow figures that follow one another stand side by side where there is room.
std::string blocks_text(std::span<const Block> blocks) {
  std::string text;
  bool open = false;
  for (const Block& block : blocks) {
    const auto* picture = std::get_if<Figure>(&block);
    if (picture != nullptr && picture->svg.empty()) continue;
    if (stands_beside(block) != open) {
      text += open ? "</div>\n" : "<div class=\"figures\">\n";
      open = !open;
    }
    text += block_text(block);
  }
  return open ? text + "</div>\n" : text;
}

std::string contents_entry(const Section& section) {
  return fmt::format("<li><a href=\"#{}\">{}</a>", section.id, markup_text(section.heading));
}

/// The headings of level 3 from `first` on, up to the next of level 2, as a list of their own.
std::string inner_contents(const std::vector<Section>& sections, std::size_t first) {
  std::string entries;
  for (std::size_t i = first; i < sections.size() && sections[i].level > 2; ++i) {
    if (sections[i].level == 3) entries += contents_entry(sections[i]) + "</li>\n";
  }
  return entries.empty() ? entries : "\n<ul>\n" + entries + "</ul>\n";
}

std::string contents(const Document& document) {
  std::string text = "<nav aria-label=\"Contents\">\n<h2 id=\"contents\">Contents</h2>\n<ul>\n";
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    if (document.sections[i].level > 2) continue;
    text +=
        contents_entry(document.sections[i]) + inner_contents(document.sections, i + 1) + "</li>\n";
  }
  return text + "</ul>\n</nav>\n";
}

}  // namespace

std::string html_page(const Document& document) {
  const std::string title = markup_text(document.title);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n"
      "<p class=\"lead\">{}</p>\n</header>\n{}<main>\n",
      title, html_style(), title, markup_text(document.lead), contents(document));
  for (const Section& section : document.sections) {
    text += fmt::format(
        "<section aria-labelledby=\"{0}\">\n<h{1} id=\"{0}\">{2}</h{1}>\n{3}"
        "</section>\n",
        section.id, section.level, markup_text(section.heading), blocks_text(section.blocks));
  }
  return text + "</main>\n</body>\n</html>\n";
}

std::string_view html_style() {
  return R"CSS(
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem 1.25rem 4rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1rem 0 .5rem; }
h2 { font-size: 1.375rem; line-height: 1.3; margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 2px solid #d0d0d0; }
h3 { font-size: 1.125rem; margin: 1.75rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, ul { max-width: 52rem; margin: .5rem 0; overflow-wrap: anywhere; }
ul { padding-left: 1.25rem; }
li { margin: .25rem 0; }
.lead { font-size: 1.0625rem; color: #333; }
nav { margin: 1rem 0; padding: .75rem 1rem; background: #f5f6f7; border-radius: .375rem; }
nav h2 { border: 0; margin: 0 0 .25rem; padding: 0; font-size: 1rem; }
nav ul { columns: 2 18rem; list-style: none; margin: 0; padding: 0; max-width: none; }
nav ul ul { columns: auto; padding-left: 1rem; }
a { color: #0b5394; }
.warning { padding: .5rem .75rem; border-left: .3rem solid #b45309; background: #fff7ed; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; margin: .75rem 0; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; max-width: 40rem; height: auto; }
figure.wide { grid-column: 1 / -1; margin: .75rem 0; }
figure.wide .scroll svg { width: auto; max-width: 100%; min-width: 30rem; }
figcaption, caption { font-size: .875rem; color: #444; }
caption { text-align: left; padding: .25rem 0; }
.scroll { overflow-x: auto; max-width: 100%; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e2e2e2; }
thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
td { min-width: 3.5rem; max-width: 34rem; overflow-wrap: break-word; }
td.words { min-width: 17rem; }
@media (max-width: 40rem) {
  body { padding: .5rem .75rem 3rem; }
  h1 { font-size: 1.375rem; }
  h2 { font-size: 1.1875rem; }
}
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { background: none; border: 1px solid #ccc; }
  a { color: inherit; text-decoration: none; }
  h2, h3, h4 { break-after: avoid; }
  figure, tr, li { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  figure.wide .scroll svg { min-width: 0; max-height: 20cm; }
  .figures { grid-template-columns: 1fr 1fr; }
  table { font-size: 8pt; }
}
)CSS";
}

namespace {

std::string markdown_block(const Block& block) {
  if (const auto* words = std::get_if<Paragraph>(&block)) {
    return fmt::format("{}{}\n\n", words->warning ? "**Warning:** " : "",
                       markdown_text(words->text));
  }
  if (const auto* list = std::get_if<Bullets>(&block)) {
    std::string text;
    for (const std::string& item : list->items) text += fmt::format("- {}\n", markdown_text(item));
    return text + "\n";
  }
  const auto* rows = std::get_if<Table>(&block);
  if (rows == nullptr) return {};
  return fmt::format("{}\n\n{}\n", markdown_text(rows->caption), markdown_table(*rows));
}

}  // namespace

std::string markdown_page(const Document& document) {
  std::string text =
      fmt::format("# {}\n\n{}\n\n", markdown_text(document.title), markdown_text(document.lead));
  for (const Section& section : document.sections) {
    text += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(section.level), '#'),
                        markdown_text(section.heading));
    for (const Block& block : section.blocks) text += markdown_block(block);
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace busbar
