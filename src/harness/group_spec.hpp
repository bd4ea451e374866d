// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/enum_names.hpp"

namespace busbar {

/// The first need no number; RandomPairs and Levels have that of their rounds, and the last of
/// those on command lines the operand of nccl-tests' rule.
enum class GroupRule { Hosts, Pairs, Rails, Halves, RandomPairs, Levels, Mod, Div, And, Or, Csv };
constexpr auto enum_names(GroupRule) {
  return std::array{Named{GroupRule::Hosts, "hosts"},
                    Named{GroupRule::Pairs, "pairs"},
                    Named{GroupRule::Rails, "rails"},
                    Named{GroupRule::Halves, "halves"},
                    Named{GroupRule::RandomPairs, "random-pairs"},
                    Named{GroupRule::Levels, "levels"},
                    Named{GroupRule::Mod, "mod"},
                    Named{GroupRule::Div, "div"},
                    Named{GroupRule::And, "and"},
                    Named{GroupRule::Or, "or"},
                    Named{GroupRule::Csv, "csv"}};
}

/// How the ranks of a launch are divided into rounds of groups: --groups, or nccl-tests'
/// NCCL_TESTS_SPLIT. What it comes to for ranks on hosts is a GroupPlan.
struct GroupSpec {
  GroupRule rule = GroupRule::Hosts;
  std::uint64_t number = 0;
  std::string csv{};  ///< a file's name, or its lines, divided by ';'

  [[nodiscard]] bool operator==(const GroupSpec&) const = default;
  /// Whether the rounds are drawn by --seed.
  [[nodiscard]] bool is_random() const {
    return rule == GroupRule::RandomPairs || rule == GroupRule::Levels;
  }
  /// Whether the lines of a CSV are there, which would else be in a file.
  [[nodiscard]] bool is_inline() const { return csv.find(',') != std::string::npos; }
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
