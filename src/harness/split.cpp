// SPDX-License-Identifier: BSD-3-Clause
#include "harness/split.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

struct Spelling {
  std::string_view word;
  Split::Rule rule;
};

constexpr std::array<Spelling, 8> kSpellings{{{"AND", Split::Rule::And},
                                              {"OR", Split::Rule::Or},
                                              {"MOD", Split::Rule::Mod},
                                              {"DIV", Split::Rule::Div},
                                              {"&", Split::Rule::And},
                                              {"|", Split::Rule::Or},
                                              {"%", Split::Rule::Mod},
                                              {"/", Split::Rule::Div}}};

std::optional<std::uint64_t> parse_number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, base);
  const bool whole = result.ec == std::errc{} && result.ptr == end;
  return whole ? std::optional{value} : std::nullopt;
}

std::optional<std::uint64_t> parse_any_base(std::string_view text) {
  if (text.starts_with("0x")) return parse_number(text.substr(2), 16);
  if (text.starts_with("0b")) return parse_number(text.substr(2), 2);
  return parse_number(text, 10);
}

Error bad_split(std::string_view text) {
  return usage_error(
      fmt::format("NCCL_TESTS_SPLIT: '{}' is not AND, OR, MOD or DIV and a number, as in \"MOD 8\" "
                  "or \"AND 0x7\"",
                  text));
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
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  for (const Spelling& spelling : kSpellings) {
    if (!upper.starts_with(spelling.word)) continue;
    std::string digits(trim(std::string_view(text).substr(spelling.word.size())));
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const auto operand = parse_any_base(digits);
    const bool divides = spelling.rule == Split::Rule::Mod || spelling.rule == Split::Rule::Div;
    constexpr std::uint64_t kLargest = 1U << 30U;
    if (!operand || *operand > kLargest || (divides && *operand == 0)) throw bad_split(text);
    return {.rule = spelling.rule, .operand = *operand};
  }
  throw bad_split(text);
}

Split parse_split_mask(std::string_view text) {
  constexpr std::uint64_t kLargest = 0x7fffffff;
  const std::string_view digits = text.starts_with("0x") ? text.substr(2) : text;
  const auto mask = parse_number(digits, 16);
  if (!mask) {
    throw usage_error(
        fmt::format("NCCL_TESTS_SPLIT_MASK: '{}' is no hexadecimal number, as in 0x7", text));
  }
  return {.rule = Split::Rule::And, .operand = *mask & kLargest};
}

/// The circle method of round-robin tournaments: one rank stays, the others go round. An odd
/// number of ranks has a bye in turn. Each round is played in both directions.
std::vector<std::vector<Pair>> pair_rounds(int ranks) {
  const int seats = ranks + ranks % 2;
  std::vector<std::vector<Pair>> rounds;
  for (int turn = 0; turn + 1 < seats; ++turn) {
    std::vector<Pair> there;
    std::vector<Pair> back;
    for (int i = 0; i < seats / 2; ++i) {
      const auto seated = [&](int seat) {
        return seat == 0 ? 0 : (seat - 1 + turn) % (seats - 1) + 1;
      };
      const int a = std::min(seated(i), seated(seats - 1 - i));
      const int b = std::max(seated(i), seated(seats - 1 - i));
      if (b >= ranks) continue;
      there.push_back({.sender = a, .receiver = b});
      back.push_back({.sender = b, .receiver = a});
    }
    rounds.push_back(there);
    rounds.push_back(back);
  }
  return rounds;
}

}  // namespace busbar
