// SPDX-License-Identifier: BSD-3-Clause
#include "harness/group_spec.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

using Rule = GroupSpec::Rule;

constexpr std::array<std::pair<std::string_view, Rule>, 10> kRules{
    {{"hosts", Rule::Hosts},
     {"pairs", Rule::Pairs},
     {"random-pairs", Rule::RandomPairs},
     {"rails", Rule::Rails},
     {"halves", Rule::Halves},
     {"levels", Rule::Levels},
     {"mod", Rule::Mod},
     {"div", Rule::Div},
     {"and", Rule::And},
     {"or", Rule::Or}}};

constexpr std::array<std::pair<std::string_view, Rule>, 8> kSplitRules{{{"and", Rule::And},
                                                                        {"or", Rule::Or},
                                                                        {"mod", Rule::Mod},
                                                                        {"div", Rule::Div},
                                                                        {"&", Rule::And},
                                                                        {"|", Rule::Or},
                                                                        {"%", Rule::Mod},
                                                                        {"/", Rule::Div}}};

/// Whether the rule is of ranks' numbers, by an operand.
bool is_arithmetic(Rule rule) { return rule >= Rule::Mod && rule <= Rule::Or; }

/// Decimal, hexadecimal or binary; nothing where the rule cannot have the number.
std::optional<std::uint64_t> parse_operand(Rule rule, std::string_view text) {
  constexpr std::uint64_t kLargest = 1U << 30U;
  constexpr std::uint64_t kMostRounds = 100000;
  std::optional<std::uint64_t> number;
  if (text.starts_with("0x")) {
    number = to_number<std::uint64_t>(text.substr(2), 16);
  } else if (text.starts_with("0b")) {
    number = to_number<std::uint64_t>(text.substr(2), 2);
  } else {
    number = to_number<std::uint64_t>(text);
  }
  const bool may_be_zero = rule == Rule::And || rule == Rule::Or;
  const std::uint64_t most = is_arithmetic(rule) ? kLargest : kMostRounds;
  if (!number || *number > most || (*number == 0 && !may_be_zero)) return std::nullopt;
  return number;
}

}  // namespace

GroupSpec parse_group_spec(std::string_view option, std::string_view text) {
  if (text.find(',') != std::string_view::npos) {
    return {.rule = Rule::Inline, .text = std::string(text)};
  }
  if (text.ends_with(".csv")) return {.rule = Rule::File, .text = std::string(text)};
  const std::string_view name = text.substr(0, text.find(':'));
  for (const auto& [known, rule] : kRules) {
    if (name != known) continue;
    const bool counts = is_arithmetic(rule) || rule == Rule::RandomPairs || rule == Rule::Levels;
    if (!counts && name == text) return {.rule = rule};
    if (!counts || name == text) break;
    const auto number = parse_operand(rule, text.substr(name.size() + 1));
    if (!number) break;
    return {.rule = rule, .number = *number};
  }
  throw usage_error(
      "invalid value '{}' for {}; expected hosts, pairs, random-pairs:K, rails, halves, levels:K, "
      "mod:N, div:N, and:MASK, or:MASK, FILE.csv or lines of it as in '0,0,0-3;0,1,4-7'",
      text, option);
}

GroupSpec parse_split(std::string_view text) {
  const std::string lowered = lower(text);
  for (const auto& [word, rule] : kSplitRules) {
    if (!lowered.starts_with(word)) continue;
    const auto operand = parse_operand(rule, trim(std::string_view{lowered}.substr(word.size())));
    if (!operand) break;
    return {.rule = rule, .number = *operand};
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
  return {.rule = Rule::And, .number = *mask & kLargest};
}

std::string to_text(const GroupSpec& spec) {
  if (!spec.text.empty()) return spec.text;
  for (const auto& [name, rule] : kRules) {
    if (rule != spec.rule) continue;
    const bool counts = is_arithmetic(rule) || spec.is_random();
    return counts ? fmt::format("{}:{}", name, spec.number) : std::string(name);
  }
  return {};
}

}  // namespace busbar
