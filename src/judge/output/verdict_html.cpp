// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_html.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "judge/output/listing.hpp"
#include "judge/output/pictures.hpp"
#include "judge/output/rule_list.hpp"
#include "judge/output/verdict_document.hpp"
#include "judge/output/words.hpp"
#include "report/document.hpp"
#include "report/gnuplot.hpp"
#include "report/markup_text.hpp"

namespace busbar::judge {
namespace {

DocumentTable verdict_table(const std::vector<ListedRow>& rows, const std::string& rule) {
  DocumentTable table{.caption = "Verdicts of " + rule,
                      .columns = {{"instance"},
                                  {"collective"},
                                  {"size"},
                                  {"measured", true},
                                  {"bound"},
                                  {"ratio", true},
                                  {"verdict"},
                                  {"reason"}}};
  for (const ListedRow& row : rows) {
    if (row.rule != rule) continue;
    table.rows.push_back({row.instance, row.collective, row.size,
                          row.measured.empty() ? "" : row.measured + " " + row.unit, row.bound,
                          row.ratio, std::string(name(row.word)), row.reason});
  }
  return table;
}

/// "absolute 478.9 GB/s: Azure's guide": empty where the rule has no source.
std::string source_of(const Specification& specification, const std::string& id) {
  for (const Expectation& rule : specification.expectations) {
    if (rule.id != id || rule.source.empty()) continue;
    return fmt::format("Reference: {}. Source: {}", reference_words(rule), rule.source);
  }
  return {};
}

/// A heading for all rules and one for each, with its pictures and its table.
std::vector<Section> rule_sections(const Judgement& judgement, const Specification& specification) {
  std::vector<Section> sections{{.id = "rules", .heading = "Measured against bound"}};
  const std::vector<ListedRow> rows = list_rows(judgement, specification);
  std::vector<std::string> rules;
  for (const RuleVerdict& verdict : judgement.verdicts) {
    if (std::find(rules.begin(), rules.end(), verdict.rule) == rules.end()) {
      rules.push_back(verdict.rule);
    }
  }
  for (const std::string& rule : rules) {
    Section section{.level = 3,
                    .id = fmt::format("rule-{}-{}", sections.size(), markup_id(rule)),
                    .heading = rule};
    if (std::string source = source_of(specification, rule); !source.empty()) {
      section.blocks.emplace_back(Paragraph{.text = std::move(source)});
    }
    for (Figure& figure : waterfalls(judgement, rule)) {
      section.blocks.emplace_back(std::move(figure));
    }
    section.blocks.emplace_back(verdict_table(rows, rule));
    sections.push_back(std::move(section));
  }
  return sections;
}

}  // namespace

std::string verdict_html(const Judgement& judgement, const Specification& specification) {
  Document document = verdict_document(judgement, specification);
  std::vector<Section> middle = rule_sections(judgement, specification);
  std::vector<Figure> maps = heat_maps(judgement, specification);
  if (!maps.empty()) {
    Section section{.id = "pairs", .heading = "Pairs"};
    for (Figure& map : maps) section.blocks.emplace_back(std::move(map));
    middle.insert(middle.begin(), std::move(section));
  }
  const auto contract = std::prev(document.sections.end());
  document.sections.insert(contract, std::make_move_iterator(middle.begin()),
                           std::make_move_iterator(middle.end()));
  draw_charts(document);
  return html_page(document);
}

}  // namespace busbar::judge
