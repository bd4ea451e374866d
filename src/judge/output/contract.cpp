// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/rule_list.hpp"
#include "judge/output/verdict_document.hpp"
#include "judge/output/words.hpp"

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

DocumentTable run_table(const Specification& specification) {
  const RunContract& run = specification.run;
  const NoiseGate& noise = specification.noise;
  constexpr double kPercent = 100;
  DocumentTable table{.caption = "How it is measured", .columns = {{"term"}, {"value"}}};
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

DocumentTable rules_table(const Specification& specification) {
  DocumentTable table{.caption = "Rules in effect; bounds are multiples of the reference",
                      .columns = {{"rule"},
                                  {"collectives"},
                                  {"device set"},
                                  {"sizes"},
                                  {"metric"},
                                  {"reference"},
                                  {"bounds"},
                                  {"source"},
                                  {"known issue"}}};
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

}  // namespace

Section contract_section(const Judgement& judgement, const Specification& specification) {
  Section section{.id = "contract", .heading = "Contract"};
  section.blocks.emplace_back(run_table(specification));
  section.blocks.emplace_back(rules_table(specification));
  if (judgement.head.notes.empty()) return section;
  section.blocks.emplace_back(Paragraph{.text = "Notes of this run:"});
  Bullets notes;
  for (const std::string& note : judgement.head.notes) notes.items.push_back(one_line(note));
  section.blocks.emplace_back(std::move(notes));
  return section;
}

}  // namespace busbar::judge
