// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/gnuplot.hpp"
#include "format/markup_text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

Table run_table(const Specification& specification) {
  const RunContract& run = specification.run;
  const NoiseGate& noise = specification.noise;
  constexpr double kPercent = 100;
  Table table{.caption = "How it is measured", .columns = {"term", "value"}};
  const auto add = [&](const std::string& term, const std::string& value) {
    if (!value.empty()) table.rows.push_back({term, value});
  };
  add("launches", fmt::format("{}, at least {} valid", run.launches, run.min_launches));
  add("timed operations of a launch",
      run.iterations == 0 ? "adaptive" : fmt::format("{}", run.iterations));
  add("operations before",
      run.warmup == -1 ? "until times are steady" : fmt::format("{}", run.warmup));
  add("nodes of one machine", run.same_machine ? "permitted: nothing need cross a network" : "");
  add("data checked", run.check_data ? "yes, no tolerance" : "no");
  add("timeout of a launch", fmt::format("{:g} s", run.timeout_s));
  add("noise gate", fmt::format("cv over launches up to {:g} %", noise.max_cv * kPercent));
  add("noisy", fmt::format("{}; at most {} reruns; decided by all attempts together",
                           noise.on_noisy == OnNoisy::Rerun  ? "launched again, then INCONCLUSIVE"
                           : noise.on_noisy == OnNoisy::Warn ? "WARN"
                                                             : "INCONCLUSIVE",
                           noise.max_reruns));
  add("ceilings of the system", specification.ceiling.system);
  if (specification.baseline) add("baseline", specification.baseline->run);
  for (const auto& [fact, wanted] : specification.system.fingerprint) {
    add("fingerprint: " + fact, join(wanted, " or "));
  }
  for (const FactRule& rule : specification.facts) add("fact: " + rule.id, limit_text(rule));
  return table;
}

/// What was agreed on, as it is in effect: the run, the noise gate, ceilings, the system, rules.
Section contract_section(const Acceptance& acceptance, const Specification& specification) {
  Table rules = make_table(rule_columns(), specification.rules);
  rules.caption = "Rules in effect; bounds are multiples of the reference";
  Section section{.id = "contract",
                  .heading = "Contract",
                  .blocks = {run_table(specification), std::move(rules)}};
  if (acceptance.head.notes.empty()) return section;
  section.blocks.emplace_back(Paragraph{.text = "Notes of this run:"});
  section.blocks.emplace_back(Bullets{.items = mapped(acceptance.head.notes, one_line)});
  return section;
}

std::string lead(const Acceptance& acceptance, const Specification& specification) {
  std::string text = fmt::format("{}. {}", count_text(acceptance), specification.file);
  if (!specification.profile.empty()) text += fmt::format(", profile {}", specification.profile);
  text +=
      fmt::format("; judged {} by busbar {}", acceptance.head.judged_at, acceptance.head.version);
  if (!acceptance.head.seed.empty()) text += fmt::format(", seed {}", acceptance.head.seed);
  return text + ".";
}

Tone tone_of(NodeState state) {
  constexpr std::array kTones{Tone::Good, Tone::Doubtful, Tone::Bad, Tone::Unknown, Tone::Absent};
  return kTones.at(static_cast<std::size_t>(state));
}

Section not_pass(const Acceptance& acceptance, std::vector<ListedRow> rows) {
  Section section{.id = "not-pass", .heading = "What is not PASS"};
  std::erase_if(rows, [](const ListedRow& row) { return row.outcome == Outcome::Pass; });
  if (!acceptance.head.refused.empty()) {
    section.blocks.emplace_back(Paragraph{
        .text = "Every rule is an ERROR: " + one_line(acceptance.head.refused), .warning = true});
  }
  if (acceptance.verdicts.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "No rule was judged.", .warning = true});
  } else if (rows.empty()) {
    section.blocks.emplace_back(Paragraph{.text = "Nothing: every verdict is PASS."});
  } else {
    Table table = make_table(
        listed_columns("verdict rule instance collective size value bound ratio reason"), rows);
    table.caption = "Verdicts other than PASS";
    table.numbers = {5, 7};
    section.blocks.emplace_back(std::move(table));
  }
  return section;
}

Section suspects(const Acceptance& acceptance) {
  Section section{.id = "suspects", .heading = "Suspects"};
  Table table{.caption = "What the rules blame",
              .columns = {"suspect", "what", "evidence", "rule", "what to do"}};
  for (const Suspect& suspect : listed_suspects(acceptance)) {
    table.rows.push_back({suspect_title(suspect), defect_text(suspect, acceptance),
                          one_line(suspect.evidence), suspect.rule,
                          advice_text(suspect, acceptance)});
  }
  if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{.text = no_suspect_text(acceptance),
                                          .warning = acceptance.count(Outcome::Fail) > 0});
  }
  if (const SilentNodes silent = silent_nodes(acceptance); !silent.nodes.empty()) {
    table.rows.push_back(
        {node_list(silent.nodes), "no answer", silent.evidence, "", std::string(kSilentAdvice)});
  }
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  return section;
}

/// A cell for each node in the order of the nodes, and below them the names by state.
Strip node_strip(const Acceptance& acceptance, const Accounting& accounting) {
  Strip strip;
  std::map<NodeState, std::size_t> numbers;
  const auto add_state = [&strip](Tone tone, std::string_view state, const Words& names) {
    strip.states.push_back(
        {tone, fmt::format("{} ({}): {}", state, names.size(), node_list(names))});
  };
  for (const auto& [state, names] : accounting.states) {
    numbers[state] = strip.states.size();
    add_state(tone_of(state), name(state), names);
  }
  for (const NodeAccount& account : acceptance.nodes) {
    const bool good = account.state == NodeState::Good || account.evidence.empty();
    strip.cells.push_back(
        {account.node, numbers.at(account.state),
         good ? std::string(name(account.state))
              : fmt::format("{}: {}", name(account.state), one_line(account.evidence))});
  }
  if (accounting.missing.empty()) return strip;
  for (const std::string& node : accounting.missing) {
    strip.cells.push_back({node, strip.states.size(), "missing"});
  }
  add_state(Tone::Absent, "missing", accounting.missing);
  return strip;
}

Section nodes(const Acceptance& acceptance, const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
  return {.id = "nodes",
          .heading = "Nodes",
          .blocks = {
              Paragraph{.text = accounting.headline + ".", .warning = !accounting.missing.empty()},
              node_strip(acceptance, accounting), Bullets{.items = node_lines(acceptance)}}};
}

/// What the page and the summary have in common; the page has `middle` before the contract.
Document verdict_document(const Acceptance& acceptance, const Specification& specification,
                          const std::vector<ListedRow>& rows,
                          const std::vector<Section>& middle = {}) {
  Document document{.title = "Interconnect acceptance of " + system_name(specification),
                    .verdict = std::string(name(acceptance.overall())),
                    .tone = look_of(acceptance.overall()).tone,
                    .answer = cause_text(acceptance),
                    .lead = lead(acceptance, specification),
                    .sections = {suspects(acceptance), nodes(acceptance, specification),
                                 not_pass(acceptance, rows)}};
  append(document.sections, middle);
  document.sections.push_back(contract_section(acceptance, specification));
  return document;
}

/// The pairs' maps, then a heading for all rules and one for each, with its pictures and its table.
std::vector<Section> picture_sections(const Acceptance& acceptance,
                                      const Specification& specification,
                                      const std::vector<ListedRow>& rows) {
  std::vector<Section> sections;
  if (const std::vector<Figure> maps = heat_maps(acceptance, specification); !maps.empty()) {
    sections.push_back({.id = "pairs", .heading = "Pairs"});
    append(sections.back().blocks, maps);
  }
  if (!acceptance.timeline.empty()) {
    const std::vector<ChartPanel>& panels = acceptance.timeline.panels;
    sections.push_back({.id = "timeline", .heading = "Timeline"});
    sections.back().blocks.emplace_back(Figure{
        .chart = acceptance.timeline,
        .caption = fmt::format(
            "{}. Turns follow each other without the time between them.",
            panels.size() == 1 ? panels.front().title
                               : "Instances and collectives, up to eight with the worst verdicts"),
        .wide = true});
  }
  sections.push_back({.id = "rules", .heading = "Measured against bound"});
  std::vector<std::string> seen;
  for (const CheckResult& result : acceptance.verdicts) {
    const std::string& rule = result.rule;
    if (contains(seen, rule)) continue;
    seen.push_back(rule);
    std::vector<DocumentBlock>& blocks =
        sections
            .emplace_back(Section{.level = 3,
                                  .id = fmt::format("rule-{}-{}", seen.size(), markup_id(rule)),
                                  .heading = rule})
            .blocks;
    for (const Rule& one : specification.rules) {
      if (one.id != rule || one.source.empty()) continue;
      blocks.emplace_back(Paragraph{
          .text = fmt::format("Reference: {}. Source: {}", reference_text(one), one.source)});
    }
    for (Figure& figure : waterfalls(acceptance, rule)) blocks.emplace_back(std::move(figure));
    const auto own = filtered(rows, [&](const ListedRow& row) { return row.first().rule == rule; });
    Table table = make_table(
        listed_columns("instance collective size value bound ratio verdict reason"), own);
    table.caption = "Verdicts of " + rule;
    table.numbers = {3, 5};
    blocks.emplace_back(std::move(table));
  }
  return sections;
}

}  // namespace

std::string verdict_markdown(const Acceptance& acceptance, const Specification& specification) {
  return markdown_page(
      verdict_document(acceptance, specification, list_rows(acceptance, specification)));
}

std::string verdict_html(const Acceptance& acceptance, const Specification& specification) {
  const std::vector<ListedRow> rows = list_rows(acceptance, specification);
  Document document = verdict_document(acceptance, specification, rows,
                                       picture_sections(acceptance, specification, rows));
  draw_charts(document);
  return html_page(document);
}

}  // namespace busbar::judge
