// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/listing.hpp"
#include "judge/output/pictures.hpp"
#include "judge/output/verdict_output.hpp"
#include "report/gnuplot.hpp"
#include "report/markup_text.hpp"

namespace busbar::judge {
namespace {

std::string_view noisy_words(OnNoisy on_noisy) {
  switch (on_noisy) {
    case OnNoisy::Rerun: return "launched again, then INCONCLUSIVE";
    case OnNoisy::Inconclusive: return "INCONCLUSIVE";
    case OnNoisy::Warn: break;
  }
  return "WARN";
}

std::string count_or(int value, int automatic, std::string_view words) {
  return value == automatic ? std::string(words) : fmt::format("{}", value);
}

Table run_table(const Specification& specification) {
  const RunContract& run = specification.run;
  const NoiseGate& noise = specification.noise;
  constexpr double kPercent = 100;
  Table table{.caption = "How it is measured", .columns = {"term", "value"}};
  table.rows = {
      {"launches", fmt::format("{}, at least {} valid", run.launches, run.min_launches)},
      {"timed operations of a launch", count_or(run.iterations, 0, "adaptive")},
      {"operations before", count_or(run.warmup, -1, "until times are steady")},
      {"data checked", run.check_data ? "yes, no tolerance" : "no"},
      {"timeout of a launch", fmt::format("{:g} s", run.timeout_s)},
      {"noise gate", fmt::format("cv over launches up to {:g} %", noise.max_cv * kPercent)},
      {"noisy",
       fmt::format("{}; at most {} reruns; decided by {}", noisy_words(noise.on_noisy),
                   noise.max_reruns,
                   noise.decide == Decide::Last ? "the last attempt" : "all attempts together")}};
  const CeilingRule& ceiling = specification.ceiling;
  if (ceiling.scale_up) {
    table.rows.push_back({"ceiling inside a node", fmt::format("{:g} GB/s", *ceiling.scale_up)});
  }
  if (ceiling.scale_out) {
    table.rows.push_back({"ceiling between nodes", fmt::format("{:g} GB/s", *ceiling.scale_out)});
  }
  if (!ceiling.system.empty()) table.rows.push_back({"ceilings of the system", ceiling.system});
  if (specification.baseline) {
    table.rows.push_back(
        {"baseline", fmt::format("{}, at most {} days old", specification.baseline->file,
                                 specification.baseline->max_age_days)});
  }
  for (const auto& [fact, wanted] : specification.system.fingerprint) {
    table.rows.push_back({"fingerprint: " + fact, join(wanted, " or ")});
  }
  return table;
}

Table rules_table(const Specification& specification) {
  Table table{.caption = "Rules in effect; bounds are multiples of the reference",
              .columns = {"rule", "collectives", "device set", "sizes", "metric", "reference",
                          "bounds", "source", "known issue"}};
  for (const Expectation& rule : specification.expectations) {
    const std::string known =
        rule.known_issue
            ? fmt::format("{} (until {})", rule.known_issue->reason, rule.known_issue->until)
            : "";
    table.rows.push_back(
        {rule.id, join(rule.collectives, " "), rule.device_set, sizes_words(rule.sizes),
         fmt::format("{} {} {}", name(rule.statistic), name(rule.metric), rule.type),
         reference_words(rule), multiples(rule), rule.source, known});
  }
  return table;
}

/// What was agreed on, as it is in effect: the run, the noise gate, ceilings, the system, rules.
Section contract_section(const Acceptance& acceptance, const Specification& specification) {
  Section section{.id = "contract", .heading = "Contract"};
  section.blocks.emplace_back(run_table(specification));
  section.blocks.emplace_back(rules_table(specification));
  if (acceptance.head.notes.empty()) return section;
  section.blocks.emplace_back(Paragraph{.text = "Notes of this run:"});
  Bullets notes;
  for (const std::string& note : acceptance.head.notes) notes.items.push_back(one_line(note));
  section.blocks.emplace_back(std::move(notes));
  return section;
}

std::string lead(const Acceptance& acceptance, const Specification& specification) {
  std::string text = fmt::format("{}. {}", count_words(acceptance), specification.file);
  if (!specification.profile.empty()) text += fmt::format(", profile {}", specification.profile);
  text +=
      fmt::format("; judged {} by busbar {}", acceptance.head.judged_at, acceptance.head.version);
  if (!acceptance.head.seed.empty()) text += fmt::format(", seed {}", acceptance.head.seed);
  return text + ".";
}

Section not_pass(const Acceptance& acceptance, const Specification& specification) {
  Section section{.id = "not-pass", .heading = "What is not PASS"};
  Table table{.caption = "Verdicts other than PASS",
              .columns = {"verdict", "rule", "instance", "collective", "size", "measured", "bound",
                          "ratio", "reason"},
              .numbers = {5, 7}};
  for (const ListedRow& row : list_rows(acceptance, specification)) {
    if (row.outcome == Outcome::Pass) continue;
    table.rows.push_back({std::string(name(row.outcome)), row.rule, row.instance, row.collective,
                          row.size, row.measured.empty() ? "" : row.measured + " " + row.unit,
                          row.bound, row.ratio, row.reason});
  }
  if (!acceptance.head.refused.empty()) {
    section.blocks.emplace_back(Paragraph{
        .text = "Every rule is an ERROR: " + one_line(acceptance.head.refused), .warning = true});
  }
  if (acceptance.verdicts.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "No rule was judged.", .warning = true});
  } else if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "Nothing: every verdict is PASS."});
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section suspects(const Acceptance& acceptance) {
  Section section{.id = "suspects", .heading = "Suspects"};
  Table table{.caption = "What the rules blame",
              .columns = {"suspect", "rule", "evidence", "confirmed"}};
  for (const Suspect& suspect : acceptance.suspects) {
    table.rows.push_back({suspect_name(suspect), suspect.rule, one_line(suspect.evidence),
                          suspect.confirmed ? "yes, with a known-good partner" : "no"});
  }
  if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{.text = no_suspect_words(acceptance),
                                          .warning = acceptance.count(Outcome::Fail) > 0});
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section nodes(const Acceptance& acceptance, const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
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
  for (std::string& line : node_lines(acceptance)) bullets.items.push_back(std::move(line));
  section.blocks.emplace_back(std::move(bullets));
  return section;
}

/// What the page and the summary have in common; without pictures.
Document verdict_document(const Acceptance& acceptance, const Specification& specification) {
  Document document{.title = fmt::format("{}: interconnect acceptance of {}",
                                         name(acceptance.overall()), system_name(specification)),
                    .lead = lead(acceptance, specification)};
  document.sections = {not_pass(acceptance, specification), suspects(acceptance),
                       nodes(acceptance, specification),
                       contract_section(acceptance, specification)};
  return document;
}

Table verdict_table(const std::vector<ListedRow>& rows, const std::string& rule) {
  Table table{.caption = "Verdicts of " + rule,
              .columns = {"instance", "collective", "size", "measured", "bound", "ratio", "verdict",
                          "reason"},
              .numbers = {3, 5}};
  for (const ListedRow& row : rows) {
    if (row.rule != rule) continue;
    table.rows.push_back({row.instance, row.collective, row.size,
                          row.measured.empty() ? "" : row.measured + " " + row.unit, row.bound,
                          row.ratio, std::string(name(row.outcome)), row.reason});
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
std::vector<Section> rule_sections(const Acceptance& acceptance,
                                   const Specification& specification) {
  std::vector<Section> sections{{.id = "rules", .heading = "Measured against bound"}};
  const std::vector<ListedRow> rows = list_rows(acceptance, specification);
  std::vector<std::string> rules;
  for (const CheckResult& verdict : acceptance.verdicts) {
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
    for (Figure& figure : waterfalls(acceptance, rule)) {
      section.blocks.emplace_back(std::move(figure));
    }
    section.blocks.emplace_back(verdict_table(rows, rule));
    sections.push_back(std::move(section));
  }
  return sections;
}

}  // namespace

std::string verdict_markdown(const Acceptance& acceptance, const Specification& specification) {
  return markdown_page(verdict_document(acceptance, specification));
}

std::string verdict_html(const Acceptance& acceptance, const Specification& specification) {
  Document document = verdict_document(acceptance, specification);
  std::vector<Section> middle = rule_sections(acceptance, specification);
  std::vector<Figure> maps = heat_maps(acceptance, specification);
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
