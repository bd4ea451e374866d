// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kWidth = 110;

std::string head(const Acceptance& acceptance, const Specification& specification) {
  const auto given = [](std::string_view what, const std::string& text) {
    return text.empty() ? text : fmt::format(", {} {}", what, text);
  };
  return fmt::format("busbar accept {}: {}{}, {}, judged {}{}\n\n", acceptance.head.version,
                     system_name(specification), given("profile", specification.profile),
                     specification.file, acceptance.head.judged_at,
                     given("seed", acceptance.head.seed));
}

/// "very-long...7.example.org": `most` letters of a longer name.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  const std::size_t tail = (most - 3) / 2;
  return name.substr(0, most - 3 - tail) + "..." + name.substr(name.size() - tail);
}

/// Letters of each node's name: few, and enough that no two become one.
std::size_t name_width(const Acceptance& acceptance) {
  constexpr std::size_t kReadable = 24;
  constexpr std::size_t kStep = 8;
  std::set<std::string> names;
  std::size_t longest = 0;
  for (const NodeAccount& account : acceptance.nodes) {
    names.insert(account.node);
    longest = std::max(longest, account.node.size());
  }
  std::size_t width = kReadable;
  for (; width < longest; width += kStep) {
    std::set<std::string> brief;
    for (const std::string& name : names) brief.insert(shortened(name, width));
    if (brief.size() == names.size()) break;
  }
  return width;
}

/// The rows with names of nodes that fit.
std::vector<ListedRow> brief_rows(const Acceptance& acceptance,
                                  const Specification& specification) {
  std::vector<ListedRow> rows = list_rows(acceptance, specification);
  const std::size_t width = name_width(acceptance);
  for (ListedRow& row : rows) {
    const std::vector<std::string>& nodes = row.first().nodes;
    if (row.instance != join(nodes, "+")) continue;
    row.instance =
        join_each(nodes, "+", [&](const std::string& node) { return shortened(node, width); });
  }
  return rows;
}

/// A reason stands behind its line, or below it where it does not fit: once for each instance.
std::string rule_lines(const Acceptance& acceptance, const Specification& specification) {
  const std::vector<ListedRow> rows = brief_rows(acceptance, specification);
  if (rows.empty()) return "No rule was judged.\n";
  const std::vector<std::string> lines = split(
      plain_table(make_table(
          listed_columns("rule instance collective size measured unit bound ratio verdict"), rows)),
      '\n');
  std::string text = lines.front() + "\n";
  std::set<std::string> below;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& line = lines[i + 1];
    const std::string reason = one_line(rows[i].reason);
    text += line;
    if (!reason.empty()) {
      const bool fits = line.size() + 2 + reason.size() <= kWidth;
      const bool is_new = fits || below.insert(rows[i].instance + "\n" + reason).second;
      text += (fits || !is_new ? "  " : "\n    ") + (is_new ? reason : "as above");
    }
    text += "\n";
  }
  return text;
}

/// The one cause of all errors stands once, not on every line.
std::string refusal(const Acceptance& acceptance) {
  if (acceptance.head.refused.empty()) return {};
  return fmt::format("\nEvery rule is an ERROR: {}\n", one_line(acceptance.head.refused));
}

std::string sources(const Acceptance& acceptance, const Specification& specification, bool all) {
  std::string text;
  const auto add = [&](const auto& rule, const std::string& what, auto is_shown) {
    const bool shown =
        all || std::ranges::any_of(acceptance.verdicts, [&](const CheckResult& result) {
          return result.rule == rule.id && is_shown(result);
        });
    if (!shown || rule.source.empty()) return;
    text += fmt::format("  {} ({}): {}\n", rule.id, what, rule.source);
  };
  for (const Rule& rule : specification.rules) {
    add(rule, reference_text(rule),
        [](const CheckResult& result) { return result.ratio && result.outcome != Outcome::Pass; });
  }
  for (const FactRule& rule : specification.facts) {
    add(rule, limit_text(rule),
        [](const CheckResult& result) { return result.outcome == Outcome::Fail; });
  }
  return text.empty() ? text : "\nSources\n" + text;
}

std::string suspect_lines(const Acceptance& acceptance) {
  const bool unexplained = acceptance.suspects.empty() && acceptance.count(Outcome::Fail) > 0;
  const std::string head = unexplained ? "\n" + no_suspect_text(acceptance) + "\n" : "";
  std::string text;
  for (const Suspect& suspect : listed_suspects(acceptance)) {
    text += fmt::format("  {}{}  {}: {}\n", suspect.nodes.size() == 1 ? "node " : "",
                        suspect_title(suspect), suspect.rule, one_line(suspect.evidence));
  }
  if (const std::string silent = silent_text(silent_nodes(acceptance)); !silent.empty()) {
    text += fmt::format("  {}: {}\n", silent, kSilentAdvice);
  }
  return head + (text.empty() ? "" : "\nSuspects\n" + text);
}

std::string notes(const Acceptance& acceptance) {
  std::string text = acceptance.head.notes.empty() ? "" : "\n";
  for (const std::string& note : acceptance.head.notes) text += "note: " + one_line(note) + "\n";
  return text;
}

std::string accounts(const Acceptance& acceptance, const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
  auto parts = mapped(accounting.states, [](const auto& one) {
    return fmt::format("{} {}", name(one.first), node_list(one.second));
  });
  if (!accounting.missing.empty()) parts.push_back("MISSING " + node_list(accounting.missing));
  std::string text = accounting.headline + ": " + join(parts, "; ");
  if (text.size() > kWidth) text = accounting.headline + ":\n  " + join(parts, "\n  ");
  for (const std::string& line : node_lines(acceptance)) text += "\n  " + line;
  return "\n" + text + "\n";
}

/// "; bad: h2 slow, link h1 - h3 slow and 2 more; h4 does not answer; run/report.html"
std::string conclusion(const Acceptance& acceptance, const std::string& page) {
  constexpr std::size_t kMost = 4;
  const std::string bad =
      join_some(mapped(worst_suspects(acceptance),
                       [&](const Suspect& one) {
                         return suspect_title(one) + " " + defect_text(one, acceptance);
                       }),
                kMost);
  std::string text;
  for (const std::string& part :
       {bad.empty() ? bad : "bad: " + bad, silent_text(silent_nodes(acceptance)), page}) {
    if (!part.empty()) text += "; " + part;
  }
  return text;
}

}  // namespace

std::string verdict_text(const Acceptance& acceptance, const Specification& specification,
                         const TextOptions& options) {
  return head(acceptance, specification) + rule_lines(acceptance, specification) +
         refusal(acceptance) + sources(acceptance, specification, options.all_sources) +
         suspect_lines(acceptance) + notes(acceptance) + accounts(acceptance, specification) +
         count_text(acceptance) +
         fmt::format("\nOverall: {} (exit {}){}\n", name(acceptance.overall()),
                     exit_code_of(acceptance, options.strict),
                     conclusion(acceptance, options.page));
}

}  // namespace busbar::judge
