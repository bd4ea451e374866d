// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace busbar {

/// How the ranks of a launch are divided into rounds of groups: --groups, or nccl-tests'
/// NCCL_TESTS_SPLIT. What it comes to for ranks on hosts is a GroupPlan.
struct GroupSpec {
  enum class Rule {
    Hosts,
    Pairs,
    RandomPairs,
    Rails,
    Halves,
    Levels,
    Mod,
    Div,
    And,
    Or,
    File,   ///< a CSV of rounds
    Inline  ///< its lines, divided by ';'
  };

  Rule rule = Rule::Hosts;
  std::uint64_t number = 0;  ///< rounds of matchings, or the operand
  std::string text{};        ///< the file's name, or the lines

  [[nodiscard]] bool operator==(const GroupSpec&) const = default;
  /// Whether the rounds are drawn by --seed.
  [[nodiscard]] bool is_random() const { return rule == Rule::RandomPairs || rule == Rule::Levels; }
};

/// "hosts", "random-pairs:8", "mod:8", "rounds.csv", "0,0,0-3;0,1,4-7". Throws a usage error.
[[nodiscard]] GroupSpec parse_group_spec(std::string_view option, std::string_view text);

/// "MOD 8", "AND 0x7", "DIV0b100", "%4": nccl-tests' rule (its README, NCCL_TESTS_SPLIT) and a
/// number, decimal, hexadecimal or binary. Throws a usage error that names the variable.
[[nodiscard]] GroupSpec parse_split(std::string_view text);
/// A hexadecimal mask: and.
[[nodiscard]] GroupSpec parse_split_mask(std::string_view text);

/// As on a command line.
[[nodiscard]] std::string to_text(const GroupSpec& spec);

}  // namespace busbar
