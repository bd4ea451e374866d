// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/document.hpp"
#include "format/table.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

inline constexpr int kFailColour = 0xB00020;
inline constexpr int kWarnColour = 0xA65D00;

/// How outputs show an outcome.
struct OutcomeLook {
  Tone tone = Tone::Unknown;
  CurveStyle marker{};     ///< with a shape of its own
  const char* junit = "";  ///< the element of JUnit; empty: it passes
};
[[nodiscard]] const OutcomeLook& look_of(Outcome outcome);

/// @name Text that several outputs share
/// @{
/// The value if it is a finite number; otherwise nothing, a gap in every output.
[[nodiscard]] std::optional<double> finite(std::optional<double> value);
/// Four digits for people, "12.34", "1024"; empty for a gap.
[[nodiscard]] std::string figure(std::optional<double> value);
/// The shortest text that reads back as the same number.
[[nodiscard]] std::string exact(double value);
/// "16 MiB", or "1025 B" where that would be rounded: names must not collide; empty for 0.
[[nodiscard]] std::string size_text(Bytes size);
/// A multiple of the reference in GB/s or us; a gap where one of them is.
[[nodiscard]] std::optional<double> edge(const CheckResult& result, std::optional<double> bound);
/// ">= 10.8", "<= 13.2", "10.8..13.2": where it does not fail; else "warn >= 11.4".
[[nodiscard]] std::string bound_text(const CheckResult& result);
/// "h2", "link h1 - h2", "uplink leaf2", "one of h1, h2 and h3".
[[nodiscard]] std::string suspect_title(const Suspect& suspect);
/// "wrong data", "slow"; of a fact "link flapped", or its rule.
[[nodiscard]] std::string defect_text(const Suspect& suspect, const Acceptance& acceptance);
/// What to do about it, by what it is and what is held against it.
[[nodiscard]] std::string advice_text(const Suspect& suspect, const Acceptance& acceptance);
/// Each defect of a node, link or path once, with all its rules. Facts stay apart.
[[nodiscard]] std::vector<Suspect> listed_suspects(const Acceptance& acceptance);
/// The first finding on each node, link and path, which is its worst.
[[nodiscard]] std::vector<Suspect> worst_suspects(const Acceptance& acceptance);

/// Nodes without data since they do not answer: no suspects, but something to be done about.
struct SilentNodes {
  std::vector<std::string> nodes{};
  std::string evidence{};  ///< of the first
};
[[nodiscard]] SilentNodes silent_nodes(const Acceptance& acceptance);
/// "h1 does not answer", "h1 and h2 do not answer", "h[1-9] do not answer"; empty for none.
[[nodiscard]] std::string silent_text(const SilentNodes& silent);
inline constexpr std::string_view kSilentAdvice =
    "check power and network, and that you can log in";

/// One sentence: "node17 is slow: its all-reduce of 1 GiB reaches 62.1 GB/s; at least 99.9 is ...".
[[nodiscard]] std::string cause_text(const Acceptance& acceptance);
/// What stands where no suspect is: that no node is blamed, and whether rules fail all the same.
[[nodiscard]] std::string no_suspect_text(const Acceptance& acceptance);
/// "h2 inconclusive: ...": nodes that are neither good nor suspects by themselves, those alike
/// together, in up to 40 lines. None where one cause refuses all.
[[nodiscard]] std::vector<std::string> node_lines(const Acceptance& acceptance);
/// "h1 h2 h7"; of many nodes as ranges, "h[1-2,7]".
[[nodiscard]] std::string node_list(const std::vector<std::string>& names);
/// The text with "#" for each number: the same of texts that differ only in numbers.
[[nodiscard]] std::string without_numbers(std::string_view text);

/// "dgx-h200-pod-a", or "unnamed system".
[[nodiscard]] std::string system_name(const Specification& specification);
/// "7 FAIL, 1 ERROR, 11 PASS": the worst first; "no verdict" where there is none.
[[nodiscard]] std::string count_text(const Acceptance& acceptance);
/// "absolute 478.9 GB/s", "fleet, robust z 6, MAD up to 0.02".
[[nodiscard]] std::string reference_text(const Rule& rule);
/// "net.carrier_changes of e*: delta_max 0", "nvlink.links: equals '18 of 18'".
[[nodiscard]] std::string limit_text(const FactRule& rule);
/// @}

/// Whether every node that was to be judged has a state.
struct Accounting {
  /// All nodes of a state, in their order; states that have nodes, good first.
  std::vector<std::pair<NodeState, std::vector<std::string>>> states{};
  std::vector<std::string>
      missing{};           ///< named by the specification or a result, but without a state
  std::string headline{};  ///< "4 of 4 nodes accounted for"
};
[[nodiscard]] Accounting account_for(const Acceptance& acceptance,
                                     const Specification& specification);

using Results = std::vector<const CheckResult*>;

/// All, or of more than `most` those that do not pass, of too many the worst.
[[nodiscard]] Results worst_results(const Results& all, std::size_t most);

/// Results with one key together, in the order of their first.
template <class KeyOf>
[[nodiscard]] std::vector<Results> group_results(const Acceptance& acceptance, KeyOf key_of) {
  std::vector<Results> groups;
  std::map<decltype(key_of(acceptance.verdicts.front())), std::size_t> places;
  for (const CheckResult& result : acceptance.verdicts) {
    const auto [found, added] = places.try_emplace(key_of(result), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(&result);
  }
  return groups;
}

/// The columns of verdicts.csv; JSON has the same as members.
[[nodiscard]] std::span<const Column<CheckResult>> result_columns();

/// The columns of rules for people; bounds are multiples of the reference.
[[nodiscard]] std::span<const Column<Rule>> rule_columns();

/// The rules of a specification: what each expects, and below it where its figures are from.
[[nodiscard]] std::string rule_list(const Specification& specification);

/// A line for people: one result, or many that say the same.
struct ListedRow {
  std::vector<const CheckResult*> results{};
  std::string instance{};  ///< "h1+h2", "15 of 15 pairs", "1976 more pairs"
  Outcome outcome = Outcome::Error;
  std::string reason{};

  [[nodiscard]] const CheckResult& first() const { return *results.front(); }
};

/// Results as lines, in their order. Of a rule, collective and size become one line: more than 4
/// PASS, and more than 4 INCONCLUSIVE, ERROR or SKIP whose reasons differ at most in numbers, and
/// more than 20 others with one reason; of all others the first 40 are listed. Where one cause
/// refuses all, each rule, collective and size is one line without a reason.
[[nodiscard]] std::vector<ListedRow> list_rows(const Acceptance& acceptance,
                                               const Specification& specification);

/// Columns of lines by name, to select from: "measured" and "unit", or "value", which has both.
[[nodiscard]] std::vector<Column<ListedRow>> listed_columns(std::string_view names);

/// @name Charts of an acceptance, each with its caption
/// @{
/// One per rule and collective. Up to 24 bars; of more, 20 that are not PASS, the lowest and the
/// highest PASS.
[[nodiscard]] std::vector<Figure> waterfalls(const Acceptance& acceptance, const std::string& rule);
/// One per pairwise set, collective, size and metric, of three nodes or more.
[[nodiscard]] std::vector<Figure> heat_maps(const Acceptance& acceptance,
                                            const Specification& specification);
/// @}

}  // namespace busbar::judge
