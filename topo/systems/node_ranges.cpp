// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/node_ranges.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

constexpr int kMost = 256;  // nodes of a range

/// "GPU", "0" and "7" of "GPU0-7".
struct RangeText {
  std::string_view prefix{};
  std::string_view first{};
  std::string_view last{};
};

/// The digits that a text ends with.
std::string_view last_digits(std::string_view text) {
  const std::size_t other = text.find_last_not_of("0123456789");
  return text.substr(other == std::string_view::npos ? 0 : other + 1);
}

std::optional<RangeText> range_text(std::string_view text) {
  const std::string_view last = last_digits(text);
  text.remove_suffix(last.size());
  if (last.empty() || !text.ends_with('-')) return std::nullopt;
  text.remove_suffix(1);
  const std::string_view first = last_digits(text);
  text.remove_suffix(first.size());
  if (first.empty() || text.empty()) return std::nullopt;
  return RangeText{.prefix = text, .first = first, .last = last};
}

}  // namespace

std::vector<std::string> names_of_range(const TomlFields& fields, std::string_view key,
                                        const std::string& text) {
  const auto range = range_text(text);
  if (!range) return {text};
  const auto first = to_number<int>(range->first);
  const auto last = to_number<int>(range->last);
  const bool counts_up = first && last && *first < *last && *last - *first < kMost;
  // Leading zeros would be lost.
  if (!counts_up || text != fmt::format("{}{}-{}", range->prefix, *first, *last)) {
    throw fields.fault(key, fmt::format("{} is no range; it must count upwards and have at most {} "
                                        "nodes, as {}0-7",
                                        quoted(text), kMost, range->prefix));
  }
  std::vector<std::string> names;
  for (int number = *first; number <= *last; ++number) {
    names.push_back(fmt::format("{}{}", range->prefix, number));
  }
  return names;
}

std::vector<std::string> names_of_ranges(const TomlFields& fields, std::string_view key) {
  std::vector<std::string> names;
  for (const std::string& text : fields.words(key)) {
    const std::vector<std::string> more = names_of_range(fields, key, text);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> pairs_of_ranges(const TomlFields& fields,
                                                                 std::string_view key,
                                                                 const std::string& one,
                                                                 const std::string& other) {
  const std::vector<std::string> ones = names_of_range(fields, key, one);
  const std::vector<std::string> others = names_of_range(fields, key, other);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (one == other && ones.size() > 1) {
    for (std::size_t i = 0; i < ones.size(); ++i) {
      for (std::size_t j = i + 1; j < ones.size(); ++j) pairs.emplace_back(ones[i], ones[j]);
    }
    return pairs;
  }
  const auto [less, more] = std::minmax({ones.size(), others.size()});
  if (more % less != 0) {
    throw fields.fault(key, fmt::format("between joins {} to {}; write ranges of which one divides "
                                        "the other",
                                        counted(ones.size(), "node"), others.size()));
  }
  for (std::size_t i = 0; i < more; ++i) {
    pairs.emplace_back(ones[i * ones.size() / more], others[i * others.size() / more]);
  }
  return pairs;
}

}  // namespace busbar::topo
