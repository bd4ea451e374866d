// SPDX-License-Identifier: BSD-3-Clause
#include "harness/split.hpp"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::array<std::pair<std::string_view, Split::Rule>, 8> kSpellings{
    {{"and", Split::Rule::And},
     {"or", Split::Rule::Or},
     {"mod", Split::Rule::Mod},
     {"div", Split::Rule::Div},
     {"&", Split::Rule::And},
     {"|", Split::Rule::Or},
     {"%", Split::Rule::Mod},
     {"/", Split::Rule::Div}}};

std::optional<std::uint64_t> parse_any_base(std::string_view text) {
  if (text.starts_with("0x")) return to_number<std::uint64_t>(text.substr(2), 16);
  if (text.starts_with("0b")) return to_number<std::uint64_t>(text.substr(2), 2);
  return to_number<std::uint64_t>(text);
}

}  // namespace

int Split::color(int rank) const {
  const auto r = static_cast<std::uint64_t>(rank);
  switch (rule) {
    case Rule::And: return static_cast<int>(r & operand);
    case Rule::Or: return static_cast<int>(r | operand);
    case Rule::Mod: return static_cast<int>(r % operand);
    case Rule::Div: break;
  }
  return static_cast<int>(r / operand);
}

std::vector<int> groups_of(const std::optional<Split>& split, int ranks) {
  std::map<int, int> group_of_color;
  std::vector<int> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    const int color = split ? split->color(rank) : 0;
    const int next = static_cast<int>(group_of_color.size());
    groups.push_back(group_of_color.emplace(color, next).first->second);
  }
  return groups;
}

Split parse_split(std::string_view text) {
  constexpr std::uint64_t kLargest = 1U << 30U;
  const std::string lowered = lower(text);
  for (const auto& [word, rule] : kSpellings) {
    if (!lowered.starts_with(word)) continue;
    const auto operand = parse_any_base(trim(std::string_view{lowered}.substr(word.size())));
    const bool divides = rule == Split::Rule::Mod || rule == Split::Rule::Div;
    if (!operand || *operand > kLargest || (divides && *operand == 0)) break;
    return {.rule = rule, .operand = *operand};
  }
  throw usage_error(
      "NCCL_TESTS_SPLIT: '{}' is not AND, OR, MOD or DIV and a number, as in \"MOD 8\" "
      "or \"AND 0x7\"",
      text);
}

Split parse_split_mask(std::string_view text) {
  constexpr std::uint64_t kLargest = 0x7fffffff;
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  const auto mask = to_number<std::uint64_t>(digits, 16);
  if (!mask) {
    throw usage_error("NCCL_TESTS_SPLIT_MASK: '{}' is not a hexadecimal number, such as 0x7", text);
  }
  return {.rule = Split::Rule::And, .operand = *mask & kLargest};
}

std::string to_text(const Split& split) {
  constexpr std::array kRules{"AND", "OR", "MOD", "DIV"};
  return fmt::format("{} {}", kRules.at(static_cast<std::size_t>(split.rule)), split.operand);
}

std::string key_of(const Split& split) {
  return fmt::format("{}:{}", static_cast<int>(split.rule), split.operand);
}

}  // namespace busbar
