// SPDX-License-Identifier: BSD-3-Clause
#include "base/hostlist.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::size_t kMostHosts = 1'000'000;
constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kMostDigits = 18;

/// A list's items: commas within brackets divide ranges.
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char letter : list) {
    if (letter == '[') ++depth;
    if (letter == ']') --depth;
    if (letter == ',' && depth == 0) {
      items.emplace_back();
    } else {
      items.back() += letter;
    }
  }
  return items;
}

/// "001-003,7": the numbers with their leading zeros.
std::vector<std::string> numbers_of(std::string_view place, const std::string& ranges) {
  std::vector<std::string> numbers;
  for (const std::string& range : split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string from = range.substr(0, dash);
    const std::string to = dash == std::string::npos ? from : range.substr(dash + 1);
    const auto first = to_number<std::uint64_t>(from);
    const auto last = to_number<std::uint64_t>(to);
    if (!first || !last || *last < *first || from.size() > kMostDigits) {
      throw usage_error("{}: '{}' is no range of hosts", place, range);
    }
    if (*last - *first >= kMostHosts - numbers.size()) {
      throw usage_error("{}: more than a million hosts", place);
    }
    for (std::uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(fmt::format("{:0{}}", number, from.size()));
    }
  }
  return numbers;
}

void add_item(std::string_view place, const std::string& item, std::vector<std::string>& hosts) {
  const std::size_t open = item.find('[');
  const std::size_t close = item.find(']');
  if (open == std::string::npos && close == std::string::npos) {
    if (!trim(item).empty()) hosts.emplace_back(trim(item));
    if (hosts.size() > kMostHosts) throw usage_error("{}: more than a million hosts", place);
    return;
  }
  if (open == std::string::npos || close == std::string::npos || close < open) {
    throw usage_error("{}: brackets of '{}' do not match", place, item);
  }
  for (const std::string& number : numbers_of(place, item.substr(open + 1, close - open - 1))) {
    add_item(place, item.substr(0, open) + number + item.substr(close + 1), hosts);
  }
}

/// What names have in common: all but their last number, and its digits where it has zeros before.
using Stem = std::tuple<std::string, std::string, std::size_t>;

using Groups = std::map<Stem, std::set<std::uint64_t>>;

/// False for a name without a number.
bool add_host(Groups& groups, const std::string& host) {
  const std::size_t end = host.find_last_of(kDigits);
  if (end == std::string::npos) return false;
  const std::size_t before = host.find_last_not_of(kDigits, end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::string digits = host.substr(begin, end + 1 - begin);
  if (digits.size() > kMostDigits) return false;
  // "n9" and "n10" are one list, "n09" and "n10" too; "n9" and "n010" are not.
  const std::size_t width = digits.size() > 1 && digits.front() == '0' ? digits.size() : 0;
  groups[{host.substr(0, begin), host.substr(end + 1), width}].insert(
      *to_number<std::uint64_t>(digits));
  return true;
}

/// Numbers without zeros before them join those of the same width that have some.
void join_widths(Groups& groups) {
  for (auto& [stem, numbers] : groups) {
    const auto& [prefix, suffix, width] = stem;
    const auto plain = groups.find({prefix, suffix, 0});
    if (width == 0 || plain == groups.end()) continue;
    std::set<std::uint64_t> left;
    for (const std::uint64_t number : plain->second) {
      const bool joins = fmt::format("{}", number).size() == width;
      (joins ? numbers : left).insert(number);
    }
    plain->second = std::move(left);
  }
}

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view place, std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string& item : items_of(list)) add_item(place, item, hosts);
  return hosts;
}

std::string hostlist(const std::vector<std::string>& hosts) {
  Groups groups;
  std::vector<std::string> items;
  for (const std::string& host : hosts) {
    if (!add_host(groups, host)) items.push_back(host);
  }
  join_widths(groups);
  for (const auto& [stem, numbers] : groups) {
    const auto& [prefix, suffix, width] = stem;
    if (numbers.empty()) continue;
    const std::string ranges = format_ranges(numbers, ',', width);
    const bool one = numbers.size() == 1;
    items.push_back(
        fmt::format("{}{}{}{}{}", prefix, one ? "" : "[", ranges, one ? "" : "]", suffix));
  }
  return join(items, ",");
}

}  // namespace busbar
