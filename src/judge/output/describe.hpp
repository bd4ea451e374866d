// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// @name Words that several outputs share
/// @{
/// The value, unless it is no number: a gap in every output.
[[nodiscard]] std::optional<double> finite(std::optional<double> value);
/// Four digits for people, "12.34", "1024"; empty for a gap.
[[nodiscard]] std::string figure(std::optional<double> value);
/// The shortest text that reads back as the same number; empty for a gap.
[[nodiscard]] std::string exact(std::optional<double> value);
/// "1.03": a ratio for people; empty for a gap.
[[nodiscard]] std::string ratio_words(std::optional<double> value);
/// "16 MiB", or "1025 B" where that would be rounded: names of cases must not collide.
[[nodiscard]] std::string size_words(Bytes size);
/// "pair-floor h1+h2 alltoall 16 MiB": the same in every run of a specification.
[[nodiscard]] std::string case_name(const CheckResult& verdict);
/// A multiple of the reference in GB/s or us; a gap where one of them is.
[[nodiscard]] std::optional<double> edge(const CheckResult& verdict, std::optional<double> bound);
/// ">= 10.8", "<= 13.2", "10.8..13.2": where it does not fail; "warn >= 11.4" where nothing fails
/// it.
[[nodiscard]] std::string bound_words(const CheckResult& verdict);
/// "nodes", "pairs", "rails", "instances": what instances of a set are.
[[nodiscard]] std::string_view instances_noun(const Specification& specification,
                                              std::string_view device_set);
/// "node h2", "link h1 - h2".
[[nodiscard]] std::string suspect_name(const Suspect& suspect);
/// "... (confirmed with a known-good partner)".
[[nodiscard]] std::string suspect_evidence(const Suspect& suspect);
/// What stands where no suspect is: that no node is blamed, and whether rules fail all the same.
[[nodiscard]] std::string no_suspect_words(const Acceptance& acceptance);
/// "h2 failed: ...": nodes that are not good, those with the same evidence together. None where one
/// cause refuses all.
[[nodiscard]] std::vector<std::string> node_lines(const Acceptance& acceptance);
/// "dgx-h200-pod-a", or "unnamed system".
[[nodiscard]] std::string system_name(const Specification& specification);
/// @}

/// All nodes of one state, in their order.
struct StateNodes {
  NodeState state = NodeState::Good;
  std::vector<std::string> names{};
};

/// Whether every node that was to be judged has a state.
struct Accounting {
  std::vector<StateNodes> states{};  ///< those that have nodes, good first
  std::vector<std::string>
      missing{};  ///< named by the specification or a verdict, but without a state
  std::size_t accounted = 0;
  std::size_t all = 0;
  /// "4 of 4 nodes accounted for".
  [[nodiscard]] std::string headline() const;
};

/// "7 FAIL, 1 ERROR, 11 PASS": the worst first; "no verdict" where there is none.
[[nodiscard]] std::string count_words(const Acceptance& acceptance);

[[nodiscard]] Accounting account_for(const Acceptance& acceptance,
                                     const Specification& specification);

/// @name A rule in words
/// @{
/// "fails below 0.96, warns below 0.98": multiples of the reference.
[[nodiscard]] std::string multiples(const Expectation& rule);
/// "8 GiB", "1 MiB to 8 GiB (14)".
[[nodiscard]] std::string sizes_words(const std::vector<Bytes>& sizes);
/// "absolute 478.9 GB/s", "fleet, robust z 6, MAD up to 0.02".
[[nodiscard]] std::string reference_words(const Expectation& rule);
/// @}

/// The rules of a specification: what each expects, and below it where its figures are from.
[[nodiscard]] std::string rule_list(const Specification& specification);

}  // namespace busbar::judge
