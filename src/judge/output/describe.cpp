// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/describe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "judge/fingerprint.hpp"

namespace busbar::judge {
namespace {

using Result = CheckResult;

constexpr auto kResultColumns = std::to_array<Column<Result>>({
    {"rule", "", [](const Result& r) { return r.rule; }},
    {"device_set", "", [](const Result& r) { return r.device_set; }},
    {"collective", "", [](const Result& r) { return r.collective; }},
    {"dtype", "", [](const Result& r) { return r.type; }},
    {"size_bytes", "",
     [](const Result& r) { return r.size == 0 ? std::nullopt : std::optional(r.size); }},
    {"metric", "", [](const Result& r) { return r.metric; }},
    {"unit", "", [](const Result& r) { return unit(r.metric); }},
    {"statistic", "",
     [](const Result& r) { return is_of_rules(r.metric) ? name(r.statistic) : ""; }},
    {"n_launches", "", [](const Result& r) { return r.values.size(); }},
    {"value", "", [](const Result& r) { return r.value; }},
    {"cv", "", [](const Result& r) { return r.cv; }},
    {"reference", "", [](const Result& r) { return r.reference; }},
    {"reference_kind", "", [](const Result& r) { return r.reference_kind; }},
    {"ratio", "", [](const Result& r) { return r.ratio; }},
    {"fail_below", "", [](const Result& r) { return r.bounds.fail_below; }},
    {"fail_above", "", [](const Result& r) { return r.bounds.fail_above; }},
    {"verdict", "", [](const Result& r) { return r.outcome; }},
    {"reason", "", [](const Result& r) { return r.reason; }},
    {"attempts", "", [](const Result& r) { return r.attempts; }},
    {"instance", "", [](const Result& r) { return r.instance; }},
    {"nodes", "", [](const Result& r) { return join(r.nodes, " "); }},
    {"warn_below", "", [](const Result& r) { return r.bounds.warn_below; }},
    {"warn_above", "", [](const Result& r) { return r.bounds.warn_above; }},
    {"values", "", [](const Result& r) { return r.values; }},
});

/// "fails below 0.96, warns below 0.98".
std::string multiples(const Bounds& bounds) {
  std::vector<std::string> parts;
  for (const auto& [what, bound] :
       {std::pair{"fails below", bounds.fail_below}, std::pair{"warns below", bounds.warn_below},
        std::pair{"warns above", bounds.warn_above}, std::pair{"fails above", bounds.fail_above}}) {
    if (bound) parts.push_back(fmt::format("{} {:g}", what, *bound));
  }
  return join(parts, ", ");
}

/// "8 GiB", "1 MiB to 8 GiB (14)".
std::string sizes_text(const std::vector<Bytes>& sizes) {
  if (sizes.empty()) return {};
  if (sizes.size() == 1) return size_text(sizes.front());
  return fmt::format("{} to {} ({})", size_text(sizes.front()), size_text(sizes.back()),
                     sizes.size());
}

std::string known_issue_text(const Rule& rule) {
  const auto& known = rule.known_issue;
  if (!known) return {};
  const std::string of = known->nodes.empty() ? "" : "of " + hostlist(known->nodes) + " ";
  return fmt::format("{} ({}until {})", known->reason, of, known->until);
}

constexpr auto kRuleColumns = std::to_array<Column<Rule>>({
    {"rule", "rule", [](const Rule& r) { return r.id; }},
    {"collectives", "collectives", [](const Rule& r) { return join(r.collectives, " "); }},
    {"device_set", "device set", [](const Rule& r) { return r.device_set; }},
    {"sizes", "sizes", [](const Rule& r) { return sizes_text(r.sizes); }},
    {"metric", "metric",
     [](const Rule& r) {
       return fmt::format("{} {} {}", name(r.statistic), name(r.metric), r.type);
     }},
    {"reference", "reference", [](const Rule& r) { return reference_text(r); }},
    {"bounds", "bounds", [](const Rule& r) { return multiples(r.bounds); }},
    {"source", "source", [](const Rule& r) { return r.source; }},
    {"known_issue", "known issue", [](const Rule& r) { return known_issue_text(r); }},
});

/// What is said of a node that is neither good nor a suspect by itself, without its name.
std::string open_evidence(const NodeAccount& account) {
  if (account.state == NodeState::Good || account.state == NodeState::Failed) return {};
  std::string text = one_line(account.evidence);
  const std::string itself = fmt::format(" on {}: ", account.node);
  if (const auto at = text.find(itself); at != std::string::npos) {
    text.replace(at, itself.size(), ": ");
  }
  return text;
}

bool is_same(const Suspect& one, const Suspect& other) {
  return one.nodes == other.nodes && one.path == other.path;
}

std::string range_text(const std::string& low, const std::string& high) {
  if (low.empty() && high.empty()) return {};
  if (high.empty()) return ">= " + low;
  return low.empty() ? "<= " + high : low + ".." + high;
}

}  // namespace

std::span<const Column<CheckResult>> result_columns() { return kResultColumns; }
std::span<const Column<Rule>> rule_columns() { return kRuleColumns; }

const OutcomeLook& look_of(Outcome outcome) {
  static constexpr std::array<OutcomeLook, 7> kLooks{
      {{Tone::Unknown, {.colour = 0x777777, .point = 1}, "skipped"},
       {Tone::Good, {.colour = 0x00735C, .point = 7}, ""},
       {Tone::Good, {.colour = 0x0B5394, .point = 11}, "skipped"},
       {Tone::Doubtful, {.colour = kWarnColour, .point = 9}, ""},
       {Tone::Unknown, {.colour = 0x555555, .point = 12}, "error"},
       {Tone::Bad, {.colour = kFailColour, .point = 5}, "error"},
       {Tone::Bad, {.colour = kFailColour, .point = 15}, "failure"}}};
  return kLooks.at(static_cast<std::size_t>(outcome));
}

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string figure(std::optional<double> value) {
  return finite(value) ? figure_text(*value) : std::string();
}

std::string exact(double value) { return fmt::format("{}", value); }

std::string size_text(Bytes size) {
  if (size == 0) return {};
  constexpr Bytes kHundredths = 100;  // what format_bytes shows
  constexpr Bytes kStep = 1024;
  Bytes unit = 1;
  while (size / unit >= kStep && unit < kGiB * kStep) unit *= kStep;
  return size * kHundredths % unit == 0 ? format_bytes(size) : fmt::format("{} B", size);
}

std::optional<double> edge(const CheckResult& result, std::optional<double> bound) {
  if (!finite(result.reference) || !bound) return {};
  return *result.reference * *bound;
}

std::string bound_text(const CheckResult& result) {
  const auto [fail_below, warn_below, warn_above, fail_above] = result.bounds;
  std::string fails =
      range_text(figure(edge(result, fail_below)), figure(edge(result, fail_above)));
  if (!fails.empty() && !is_of_rules(result.metric)) {
    return fmt::format("{} {}", fails, unit(result.metric));
  }
  if (!fails.empty()) return fails;
  const std::string warns =
      range_text(figure(edge(result, warn_below)), figure(edge(result, warn_above)));
  return warns.empty() ? warns : "warn " + warns;
}

std::string suspect_title(const Suspect& suspect) {
  constexpr std::size_t kFew = 4;
  const std::size_t nodes = suspect.nodes.size();
  if (nodes == 0) return suspect.path;
  if (nodes == 1) return suspect.nodes.front();
  if (nodes == 2) return "link " + join(suspect.nodes, " - ");
  return nodes <= kFew ? "one of " + join_and(suspect.nodes)
                       : fmt::format("one of {} nodes", nodes);
}

std::vector<Suspect> listed_suspects(const Acceptance& acceptance) {
  std::vector<Suspect> listed;
  for (const Suspect& one : acceptance.suspects) {
    const auto same = [&](const Suspect& other) {
      return other.defect == one.defect && is_same(other, one) &&
             (one.defect != Defect::Fact || other.rule == one.rule);
    };
    if (std::ranges::any_of(listed, same)) continue;
    std::vector<std::string> others;
    for (const Suspect& other : filtered(acceptance.suspects, same)) {
      if (other.rule != one.rule) others.push_back(other.rule);
    }
    listed.push_back(one);
    if (!others.empty()) listed.back().evidence += "; also by " + join(others, ", ");
  }
  return listed;
}

std::vector<Suspect> worst_suspects(const Acceptance& acceptance) {
  std::vector<Suspect> worst;
  for (const Suspect& one : acceptance.suspects) {
    const auto same = [&](const Suspect& other) { return is_same(other, one); };
    static_cast<void>(find_or_add(worst, same, one));
  }
  return worst;
}

SilentNodes silent_nodes(const Acceptance& acceptance) {
  SilentNodes silent;
  for (const NodeAccount& account : acceptance.nodes) {
    if (account.state != NodeState::NoData) continue;
    const auto* own = find_by(acceptance.verdicts, account.node, &CheckResult::unreachable);
    if (own == nullptr) continue;
    silent.nodes.push_back(account.node);
    if (silent.evidence.empty()) silent.evidence = one_line(own->reason);
  }
  return silent;
}

std::string silent_text(const SilentNodes& silent) {
  constexpr std::size_t kFew = 4;
  if (silent.nodes.empty()) return {};
  return (silent.nodes.size() > kFew ? hostlist(silent.nodes) : join_and(silent.nodes)) +
         (silent.nodes.size() == 1 ? " does" : " do") + " not answer";
}

std::string no_suspect_text(const Acceptance& acceptance) {
  if (acceptance.count(Outcome::Fail) > 0) {
    return "Rules fail, and no single node or link stands out: all that took part are suspect.";
  }
  const bool open = acceptance.count(Outcome::Error) + acceptance.count(Outcome::Inconclusive) > 0;
  return open ? "No node and no link is blamed, but not everything could be judged."
              : "No node and no link is blamed.";
}

std::string node_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMostApart = 32;
  return names.size() <= kMostApart ? join(names, " ") : hostlist(names);
}

std::string without_numbers(std::string_view text) {
  std::string kind;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (!is_digit(i)) {
      kind += text[i];
      continue;
    }
    while (is_digit(i + 1) || (i + 1 < text.size() && text[i + 1] == '.' && is_digit(i + 2))) ++i;
    kind += '#';
  }
  return kind;
}

std::vector<std::string> node_lines(const Acceptance& acceptance) {
  constexpr std::size_t kMost = 40;
  struct Line {
    NodeState state;
    std::string text;
    std::string kind;
    Words names{};
    bool varies = false;
  };
  std::vector<std::string> texts;
  if (!acceptance.head.refused.empty()) return texts;
  std::vector<Line> lines;
  for (const NodeAccount& account : acceptance.nodes) {
    const std::string text = open_evidence(account);
    if (text.empty()) continue;
    const std::string kind = account.state == NodeState::Suspect ? text : without_numbers(text);
    const auto same = [&](const Line& one) {
      return one.state == account.state && one.kind == kind;
    };
    Line& line = find_or_add(lines, same, {account.state, text, kind});
    line.names.push_back(account.node);
    line.varies = line.varies || line.text != text;
  }
  for (const Line& line : lines) {
    if (texts.size() == kMost) break;
    texts.push_back(fmt::format("{} {}: {}{}", node_list(line.names), name(line.state),
                                line.varies ? "e.g. " : "", line.text));
  }
  if (lines.size() > kMost) texts.push_back(fmt::format("and {} alike", lines.size() - kMost));
  return texts;
}

std::string system_name(const Specification& specification) {
  return specification.system.name.empty() ? "unnamed system" : specification.system.name;
}

std::string count_text(const Acceptance& acceptance) {
  std::string text;
  for (const Outcome outcome : all_values<Outcome>()) {
    const std::size_t count = acceptance.count(outcome);
    if (count == 0) continue;
    text = fmt::format("{} {}{}{}", count, name(outcome), text.empty() ? "" : ", ", text);
  }
  return text.empty() ? "no verdict" : text;
}

std::string reference_text(const Rule& rule) {
  std::string text(name(rule.compare));
  if (rule.value) text += fmt::format(" {:g} {}", *rule.value, unit(rule.metric));
  if (rule.compare == RuleKind::Fleet && rule.min_robust_z > 0) {
    text += fmt::format(", robust z {:g}, MAD up to {:g}", rule.min_robust_z, rule.max_fleet_mad);
  }
  return text;
}

std::string limit_text(const FactRule& rule) {
  std::string limit;
  if (rule.delta_max) limit = fmt::format("delta_max {:g}", *rule.delta_max);
  if (rule.at_least) limit = fmt::format("at_least {:g}", *rule.at_least);
  if (!rule.equals.empty()) limit = fmt::format("equals {}", alternatives(rule.equals));
  if (!rule.same.empty()) limit = "same " + rule.same;
  return fmt::format("{}{}: {}", rule.fact, rule.instance == "*" ? "" : " of " + rule.instance,
                     limit);
}

Accounting account_for(const Acceptance& acceptance, const Specification& specification) {
  Accounting accounting;
  std::vector<std::string> known;
  for (const NodeState state : all_values<NodeState>()) {
    const auto is_in = [state](const NodeAccount& account) { return account.state == state; };
    auto names = mapped(filtered(acceptance.nodes, is_in), &NodeAccount::node);
    if (names.empty()) continue;
    append(known, names);
    accounting.states.emplace_back(state, std::move(names));
  }
  std::vector<std::string>& missing = accounting.missing;
  const auto expect = [&](const std::vector<std::string>& names) {
    for (const std::string& one : names) {
      if (!contains(known, one)) add_new(missing, one);
    }
  };
  expect(specification.system.nodes);
  for (const CheckResult& result : acceptance.verdicts) expect(result.nodes);
  accounting.headline =
      fmt::format("{} of {} nodes accounted for", known.size(), known.size() + missing.size());
  return accounting;
}

Results worst_results(const Results& all, std::size_t most) {
  if (all.size() <= most) return all;
  Results worst =
      filtered(all, [](const CheckResult* one) { return one->outcome != Outcome::Pass; });
  if (worst.size() <= most) return worst;
  std::ranges::stable_sort(worst, std::greater{}, &CheckResult::outcome);
  worst.resize(most);
  return worst;
}

std::string rule_list(const Specification& specification) {
  const auto& rules = specification.rules;
  const auto columns =
      select_columns(rule_columns(), "rule collectives device_set sizes reference bounds");
  std::string text =
      fmt::format("{}{}: {}\n\n{}\nSources\n", system_name(specification),
                  specification.profile.empty() ? "" : ", profile " + specification.profile,
                  specification.file, plain_table(make_table(columns, rules)));
  const auto add_source = [&](const auto& rule) {
    text += fmt::format("  {}: {}\n", rule.id, rule.source.empty() ? "none" : rule.source);
  };
  std::ranges::for_each(rules, add_source);
  std::ranges::for_each(specification.facts, add_source);
  if (!specification.facts.empty()) text += "\nFacts\n";
  for (const FactRule& rule : specification.facts) {
    text += fmt::format("  {}: {}\n", rule.id, limit_text(rule));
  }
  return text;
}

}  // namespace busbar::judge
