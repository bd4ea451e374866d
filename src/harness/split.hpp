// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// How the ranks of a job are divided into groups that run a collective each, at the same time:
/// ranks of one colour are a group. nccl-tests' rule (its README, NCCL_TESTS_SPLIT).
struct Split {
  enum class Rule { And, Or, Mod, Div };

  Rule rule = Rule::And;
  std::uint64_t operand = 0;

  [[nodiscard]] int color(int rank) const;
};

/// The group of each rank, numbered by their lowest ranks.
[[nodiscard]] std::vector<int> groups_of(const std::optional<Split>& split, int ranks);

/// "MOD 8", "AND 0x7", "DIV0b100", "%4": a rule and a number, decimal, hexadecimal or binary.
/// Throws a usage error that names the variable.
[[nodiscard]] Split parse_split(std::string_view text);
/// A hexadecimal mask: AND.
[[nodiscard]] Split parse_split_mask(std::string_view text);

/// "MOD 8".
[[nodiscard]] std::string to_text(const Split& split);
/// "2:8", as configurations have it.
[[nodiscard]] std::string key_of(const Split& split);

}  // namespace busbar
