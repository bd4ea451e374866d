// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/listing.hpp"
#include "judge/output/verdict_output.hpp"
#include "report/table.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kWidth = 110;

std::string head(const Acceptance& acceptance, const Specification& specification) {
  std::string text =
      fmt::format("busbar accept {}: {}", acceptance.head.version, system_name(specification));
  if (!specification.profile.empty()) text += ", profile " + specification.profile;
  text += fmt::format(", {}, judged {}", specification.file, acceptance.head.judged_at);
  if (!acceptance.head.seed.empty()) text += ", seed " + acceptance.head.seed;
  return text + "\n\n";
}

/// A reason stands behind its line, or below it where it does not fit.
std::string with_reasons(const std::string& table, const std::vector<ListedRow>& rows) {
  std::string text;
  std::size_t at = 0;
  for (const std::string& line : split(table, '\n')) {
    if (line.empty()) continue;
    text += line;
    if (at > 0 && !rows[at - 1].reason.empty()) {
      const std::string& reason = rows[at - 1].reason;
      text += line.size() + 2 + reason.size() <= kWidth ? "  " + reason : "\n    " + reason;
    }
    text += "\n";
    ++at;
  }
  return text;
}

std::string rules(const Acceptance& acceptance, const Specification& specification) {
  const std::vector<ListedRow> rows = list_rows(acceptance, specification);
  if (rows.empty()) return "No rule was judged.\n";
  Table table{.columns = {"rule", "instance", "collective", "size", "measured", "unit", "bound",
                          "ratio", "verdict"}};
  for (const ListedRow& row : rows) {
    table.rows.push_back({row.rule, row.instance, row.collective, row.size, row.measured, row.unit,
                          row.bound, row.ratio, std::string(name(row.outcome))});
  }
  return with_reasons(plain_table(table), rows);
}

/// The one cause of all errors stands once, not on every line.
std::string refusal(const Acceptance& acceptance) {
  if (acceptance.head.refused.empty()) return {};
  return fmt::format("\nEvery rule is an ERROR: {}\n", one_line(acceptance.head.refused));
}

std::string sources(const Acceptance& acceptance, const Specification& specification, bool all) {
  std::string text;
  for (const Expectation& rule : specification.expectations) {
    const bool shown = all || std::any_of(acceptance.verdicts.begin(), acceptance.verdicts.end(),
                                          [&](const CheckResult& verdict) {
                                            return verdict.rule == rule.id &&
                                                   verdict.outcome != Outcome::Pass &&
                                                   verdict.ratio;
                                          });
    if (!shown || rule.source.empty()) continue;
    text += fmt::format("  {} ({}): {}\n", rule.id, reference_words(rule), rule.source);
  }
  return text.empty() ? text : "\nSources\n" + text;
}

std::string suspects(const Acceptance& acceptance) {
  if (acceptance.suspects.empty()) {
    return acceptance.count(Outcome::Fail) > 0 ? "\n" + no_suspect_words(acceptance) + "\n" : "";
  }
  std::string text = "\nSuspects\n";
  for (const Suspect& suspect : acceptance.suspects) {
    text += fmt::format("  {}  {}: {}\n", suspect_name(suspect), suspect.rule,
                        one_line(suspect_evidence(suspect)));
  }
  return text;
}

std::string nodes(const Acceptance& acceptance, const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
  std::vector<std::string> parts;
  for (const StateNodes& state : accounting.states) {
    parts.push_back(fmt::format("{} {}", name(state.state), join(state.names, " ")));
  }
  if (!accounting.missing.empty()) parts.push_back("MISSING " + join(accounting.missing, " "));
  std::string line = accounting.headline() + ": " + join(parts, "; ");
  if (line.size() > kWidth) line = accounting.headline() + ":\n  " + join(parts, "\n  ");
  for (const std::string& other : node_lines(acceptance)) line += "\n  " + other;
  return "\n" + line + "\n";
}

std::string notes(const Acceptance& acceptance) {
  if (acceptance.head.notes.empty()) return {};
  return "\n" + join_each(acceptance.head.notes, "",
                          [](const std::string& note) { return "note: " + one_line(note) + "\n"; });
}

}  // namespace

std::string verdict_text(const Acceptance& acceptance, const Specification& specification,
                         const TextOptions& options) {
  return head(acceptance, specification) + rules(acceptance, specification) + refusal(acceptance) +
         sources(acceptance, specification, options.all_sources) + suspects(acceptance) +
         notes(acceptance) + nodes(acceptance, specification) + count_words(acceptance) +
         fmt::format("\nOverall: {} (exit {})\n", name(acceptance.overall()),
                     exit_code_of(acceptance, options.strict));
}

}  // namespace busbar::judge
