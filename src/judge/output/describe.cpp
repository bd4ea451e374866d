// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/describe.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/observation.hpp"
#include "report/table.hpp"

namespace busbar::judge {
namespace {

std::string range_words(const std::string& low, const std::string& high) {
  if (low.empty() && high.empty()) return {};
  if (high.empty()) return ">= " + low;
  return low.empty() ? "<= " + high : low + ".." + high;
}

}  // namespace

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string figure(std::optional<double> value) {
  constexpr double kWhole = 1000;
  if (!finite(value)) return {};
  return std::abs(*value) >= kWhole ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

std::string exact(std::optional<double> value) {
  return finite(value) ? fmt::format("{}", *value) : std::string();
}

std::string ratio_words(std::optional<double> value) {
  return finite(value) ? fmt::format("{:.3f}", *value) : std::string();
}

std::string size_words(Bytes size) {
  constexpr Bytes kHundredths = 100;  // what format_bytes shows
  constexpr Bytes kStep = 1024;
  Bytes unit = 1;
  while (size / unit >= kStep && unit < kGiB * kStep) unit *= kStep;
  return size * kHundredths % unit == 0 ? format_bytes(size) : fmt::format("{} B", size);
}

std::string case_name(const CheckResult& verdict) {
  return fmt::format("{} {} {} {}", verdict.rule, verdict.instance, verdict.collective,
                     size_words(verdict.size));
}

std::optional<double> edge(const CheckResult& verdict, std::optional<double> bound) {
  if (!finite(verdict.reference) || !bound) return {};
  return *verdict.reference * *bound;
}

std::string bound_words(const CheckResult& verdict) {
  const Bounds& bounds = verdict.bounds;
  std::string words = range_words(figure(edge(verdict, bounds.fail_below)),
                                  figure(edge(verdict, bounds.fail_above)));
  if (!words.empty()) return words;
  words = range_words(figure(edge(verdict, bounds.warn_below)),
                      figure(edge(verdict, bounds.warn_above)));
  return words.empty() ? words : "warn " + words;
}

std::string_view instances_noun(const Specification& specification, std::string_view device_set) {
  for (const DeviceSetRule& set : specification.device_sets) {
    if (set.id != device_set) continue;
    if (set.kind == SetKind::PerNode) return "nodes";
    if (set.kind == SetKind::Pairwise) return "pairs";
    if (set.kind == SetKind::Rails) return "rails";
  }
  return "instances";
}

std::string suspect_name(const Suspect& suspect) {
  return (suspect.nodes.size() == 2 ? "link " : "node ") + join(suspect.nodes, " - ");
}

std::string suspect_evidence(const Suspect& suspect) {
  return suspect.evidence + (suspect.confirmed ? " (confirmed with a known-good partner)" : "");
}

std::string no_suspect_words(const Acceptance& acceptance) {
  if (acceptance.count(Outcome::Fail) > 0) {
    return "Rules fail, and no single node or link stands out: all that took part are suspect.";
  }
  const bool open = acceptance.count(Outcome::Error) + acceptance.count(Outcome::Inconclusive) > 0;
  return open ? "No node and no link is blamed, but not everything could be judged."
              : "No node and no link is blamed.";
}

std::vector<std::string> node_lines(const Acceptance& acceptance) {
  if (!acceptance.head.refused.empty()) return {};
  std::vector<const NodeAccount*> open;
  for (const NodeAccount& account : acceptance.nodes) {
    if (account.state != NodeState::Good && !account.evidence.empty()) open.push_back(&account);
  }
  std::vector<std::string> lines;
  while (!open.empty()) {
    const NodeAccount& first = *open.front();
    std::vector<std::string> names;
    std::erase_if(open, [&](const NodeAccount* other) {
      const bool same = other->state == first.state && other->evidence == first.evidence;
      if (same) names.push_back(other->node);
      return same;
    });
    lines.push_back(
        fmt::format("{} {}: {}", join(names, " "), name(first.state), one_line(first.evidence)));
  }
  return lines;
}

std::string system_name(const Specification& specification) {
  return specification.system.name.empty() ? "unnamed system" : specification.system.name;
}

std::string Accounting::headline() const {
  return fmt::format("{} of {} nodes accounted for", accounted, all);
}

namespace {

std::vector<StateNodes> nodes_by_state(const Acceptance& acceptance) {
  std::vector<StateNodes> states;
  for (const NodeState state : all_values<NodeState>()) {
    StateNodes nodes{.state = state};
    for (const NodeAccount& account : acceptance.nodes) {
      if (account.state == state) nodes.names.push_back(account.node);
    }
    if (!nodes.names.empty()) states.push_back(std::move(nodes));
  }
  return states;
}

}  // namespace

std::string count_words(const Acceptance& acceptance) {
  auto words = all_values<Outcome>();
  std::reverse(words.begin(), words.end());
  std::vector<std::string> parts;
  for (const Outcome outcome : words) {
    if (acceptance.count(outcome) > 0) {
      parts.push_back(fmt::format("{} {}", acceptance.count(outcome), name(outcome)));
    }
  }
  return parts.empty() ? "no verdict" : join(parts, ", ");
}

Accounting account_for(const Acceptance& acceptance, const Specification& specification) {
  Accounting result{.states = nodes_by_state(acceptance)};
  std::vector<std::string> known;
  for (const NodeAccount& account : acceptance.nodes) {
    if (!has_node(known, account.node)) known.push_back(account.node);
  }
  const auto expect = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!has_node(known, name) && !has_node(result.missing, name)) result.missing.push_back(name);
    }
  };
  expect(specification.system.nodes);
  for (const CheckResult& verdict : acceptance.verdicts) expect(verdict.nodes);
  result.accounted = known.size();
  result.all = known.size() + result.missing.size();
  return result;
}

std::string multiples(const Expectation& rule) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::optional<double>& bound) {
    if (bound) parts.push_back(fmt::format("{} {:g}", what, *bound));
  };
  add("fails below", rule.bounds.fail_below);
  add("warns below", rule.bounds.warn_below);
  add("warns above", rule.bounds.warn_above);
  add("fails above", rule.bounds.fail_above);
  return join(parts, ", ");
}

std::string sizes_words(const std::vector<Bytes>& sizes) {
  if (sizes.empty()) return {};
  if (sizes.size() == 1) return size_words(sizes.front());
  return fmt::format("{} to {} ({})", size_words(sizes.front()), size_words(sizes.back()),
                     sizes.size());
}

std::string reference_words(const Expectation& rule) {
  std::string words(name(rule.compare));
  if (rule.value) words += fmt::format(" {:g} {}", *rule.value, unit(rule.metric));
  if (rule.compare == Comparison::Fleet) {
    words += fmt::format(", robust z {:g}, MAD up to {:g}", rule.min_robust_z, rule.max_fleet_mad);
  }
  return words;
}

std::string rule_list(const Specification& specification) {
  Table table{.columns = {"rule", "collectives", "device set", "sizes", "reference", "bounds"}};
  for (const Expectation& rule : specification.expectations) {
    table.rows.push_back({rule.id, join(rule.collectives, " "), rule.device_set,
                          sizes_words(rule.sizes), reference_words(rule), multiples(rule)});
  }
  std::string text =
      fmt::format("{}{}: {}\n\n{}\n", system_name(specification),
                  specification.profile.empty() ? "" : ", profile " + specification.profile,
                  specification.file, plain_table(table));
  text += "Sources\n";
  for (const Expectation& rule : specification.expectations) {
    text += fmt::format("  {}: {}\n", rule.id, rule.source.empty() ? "none" : rule.source);
  }
  return text;
}

}  // namespace busbar::judge
