// SPDX-License-Identifier: BSD-3-Clause
#include "report/markdown_page.hpp"

#include <fmt/format.h>

#include "report/markup_text.hpp"

namespace busbar {
namespace {

std::string table(const DocumentTable& block) {
  std::string text = fmt::format("{}\n\n|", markdown_text(block.caption));
  std::string rule = "|";
  for (const TableColumn& column : block.columns) {
    text += fmt::format(" {} |", markdown_text(column.title));
    rule += column.number ? " ---: |" : " --- |";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : block.rows) {
    text += "|";
    for (const std::string& cell : row) {
      text += fmt::format(" {} |", cell.empty() ? "\xE2\x80\x93" : markdown_text(cell));
    }
    text += "\n";
  }
  return text + "\n";
}

std::string block_text(const Block& block) {
  if (const auto* words = std::get_if<Paragraph>(&block)) {
    return fmt::format("{}{}\n\n", words->warning ? "**Warning:** " : "",
                       markdown_text(words->text));
  }
  if (const auto* list = std::get_if<Bullets>(&block)) {
    std::string text;
    for (const std::string& item : list->items) text += fmt::format("- {}\n", markdown_text(item));
    return text + "\n";
  }
  const auto* rows = std::get_if<DocumentTable>(&block);
  return rows == nullptr ? std::string{} : table(*rows);
}

}  // namespace

std::string markdown_page(const Document& document) {
  std::string text =
      fmt::format("# {}\n\n{}\n\n", markdown_text(document.title), markdown_text(document.lead));
  for (const Section& section : document.sections) {
    text += fmt::format("{} {}\n\n", std::string(static_cast<std::size_t>(section.level), '#'),
                        markdown_text(section.heading));
    for (const Block& block : section.blocks) text += block_text(block);
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace busbar
