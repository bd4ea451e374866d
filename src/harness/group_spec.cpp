// SPDX-License-Identifier: BSD-3-Clause
#include "harness/group_spec.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

bool has_number(GroupRule rule) { return rule >= GroupRule::RandomPairs && rule <= GroupRule::Or; }

/// Decimal, hexadecimal or binary; nothing where the rule cannot have the number.
std::optional<std::uint64_t> parse_operand(GroupRule rule, std::string_view text) {
  constexpr std::uint64_t kLargest = 1U << 30U;
  constexpr std::uint64_t kMostRounds = 100000;
  const int base = text.starts_with("0x") ? 16 : text.starts_with("0b") ? 2 : 10;
  const auto number = to_number<std::uint64_t>(base == 10 ? text : text.substr(2), base);
  const std::uint64_t least = rule == GroupRule::And || rule == GroupRule::Or ? 0 : 1;
  const std::uint64_t most = rule >= GroupRule::Mod ? kLargest : kMostRounds;
  return number >= least && number <= most ? number : std::nullopt;
}

}  // namespace

GroupSpec parse_group_spec(std::string_view option, std::string_view text) {
  GroupSpec spec{.rule = GroupRule::Csv, .csv = std::string(text)};
  if (spec.is_inline() || text.ends_with(".csv")) return spec;
  const std::string_view word = text.substr(0, text.find(':'));
  const auto rule = find_value<GroupRule>(word);
  if (rule && rule != GroupRule::Csv && !has_number(*rule) && word == text) return {.rule = *rule};
  if (rule && has_number(*rule) && word != text) {
    const auto number = parse_operand(*rule, text.substr(word.size() + 1));
    if (number) return {.rule = *rule, .number = *number};
  }
  throw invalid_value(
      option, text,
      split("hosts|pairs|random-pairs:K|rails|halves|levels:K|mod:N|div:N|and:MASK|or:MASK|"
            "FILE.csv|lines of it as in '0,0,0-3;0,1,4-7'",
            '|'));
}

GroupSpec parse_split(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, GroupRule>, 4> kSigns{
      {{"&", GroupRule::And}, {"|", GroupRule::Or}, {"%", GroupRule::Mod}, {"/", GroupRule::Div}}};
  const std::string lowered = lower(text);
  for (const auto& [sign, rule] : kSigns) {
    for (const std::string_view word : {sign, name(rule)}) {
      if (!lowered.starts_with(word)) continue;
      const auto operand = parse_operand(rule, trim(std::string_view{lowered}.substr(word.size())));
      if (operand) return {.rule = rule, .number = *operand};
    }
  }
  throw usage_error(
      "NCCL_TESTS_SPLIT: '{}' is not AND, OR, MOD or DIV and a number, as in \"MOD 8\" "
      "or \"AND 0x7\"",
      text);
}

GroupSpec parse_split_mask(std::string_view text) {
  constexpr std::uint64_t kLargest = 0x7fffffff;
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  const auto mask = to_number<std::uint64_t>(digits, 16);
  if (!mask) {
    throw usage_error("NCCL_TESTS_SPLIT_MASK: '{}' is not a hexadecimal number, such as 0x7", text);
  }
  return {.rule = GroupRule::And, .number = *mask & kLargest};
}

std::string to_text(const GroupSpec& spec) {
  if (!spec.csv.empty()) return spec.csv;
  if (!has_number(spec.rule)) return std::string(name(spec.rule));
  return fmt::format("{}:{}", name(spec.rule), spec.number);
}

}  // namespace busbar
