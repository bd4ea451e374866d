// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_document.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/listing.hpp"
#include "judge/output/words.hpp"

namespace busbar::judge {
namespace {

std::string lead(const Judgement& judgement, const Specification& specification) {
  std::string text = fmt::format("{}. {}", count_words(judgement), specification.file);
  if (!specification.profile.empty()) text += fmt::format(", profile {}", specification.profile);
  text += fmt::format("; judged {} by busbar {}", judgement.head.judged_at, judgement.head.version);
  if (!judgement.head.seed.empty()) text += fmt::format(", seed {}", judgement.head.seed);
  return text + ".";
}

Section not_pass(const Judgement& judgement, const Specification& specification) {
  Section section{.id = "not-pass", .heading = "What is not PASS"};
  DocumentTable table{.caption = "Verdicts other than PASS",
                      .columns = {{"verdict"},
                                  {"rule"},
                                  {"instance"},
                                  {"collective"},
                                  {"size"},
                                  {"measured", true},
                                  {"bound"},
                                  {"ratio", true},
                                  {"reason"}}};
  for (const ListedRow& row : list_rows(judgement, specification)) {
    if (row.word == Word::Pass) continue;
    table.rows.push_back({std::string(name(row.word)), row.rule, row.instance, row.collective,
                          row.size, row.measured.empty() ? "" : row.measured + " " + row.unit,
                          row.bound, row.ratio, row.reason});
  }
  if (!judgement.head.refused.empty()) {
    section.blocks.emplace_back(Paragraph{
        .text = "Every rule is an ERROR: " + one_line(judgement.head.refused), .warning = true});
  }
  if (judgement.verdicts.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "No rule was judged.", .warning = true});
  } else if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "Nothing: every verdict is PASS."});
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section suspects(const Judgement& judgement) {
  Section section{.id = "suspects", .heading = "Suspects"};
  DocumentTable table{.caption = "What the rules blame",
                      .columns = {{"suspect"}, {"rule"}, {"evidence"}, {"confirmed"}}};
  for (const Suspect& suspect : judgement.suspects) {
    table.rows.push_back({suspect_name(suspect), suspect.rule, one_line(suspect.evidence),
                          suspect.confirmed ? "yes, with a known-good partner" : "no"});
  }
  if (table.rows.empty()) {
    section.blocks.emplace_back(
        Paragraph{.text = no_suspect_words(judgement), .warning = judgement.count(Word::Fail) > 0});
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section nodes(const Judgement& judgement, const Specification& specification) {
  const Accounting accounting = account_for(judgement, specification);
  Section section{.id = "nodes", .heading = "Nodes"};
  section.blocks.emplace_back(Paragraph{.text = accounting.headline() + ".",
                                        .warning = accounting.accounted != accounting.all});
  Bullets bullets;
  for (const StateNodes& state : accounting.states) {
    bullets.items.push_back(
        fmt::format("{} ({}): {}", name(state.state), state.names.size(), join(state.names, " ")));
  }
  if (!accounting.missing.empty()) {
    bullets.items.push_back("missing: " + join(accounting.missing, " "));
  }
  for (std::string& line : node_lines(judgement)) bullets.items.push_back(std::move(line));
  section.blocks.emplace_back(std::move(bullets));
  return section;
}

}  // namespace

Document verdict_document(const Judgement& judgement, const Specification& specification) {
  Document document{.title = fmt::format("{}: interconnect acceptance of {}",
                                         name(judgement.overall()), system_name(specification)),
                    .lead = lead(judgement, specification)};
  document.sections = {not_pass(judgement, specification), suspects(judgement),
                       nodes(judgement, specification), contract_section(judgement, specification)};
  return document;
}

}  // namespace busbar::judge
