// SPDX-License-Identifier: BSD-3-Clause
#include "model/variant.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {

Vary parse_vary(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  Vary vary;
  if (equals != std::string_view::npos) {
    vary.name = text.substr(0, equals);
    vary.values = split(text.substr(equals + 1), ',');
  }
  const bool blank = text.find_first_of(" \t\n\"#") != std::string_view::npos;
  const bool gap = std::ranges::any_of(vary.values, &std::string::empty);
  if (vary.name.empty() || blank || gap || vary.values.size() < 2) {
    throw usage_error(
        "invalid value '{}' for {}; expected NAME=a,b, as in cadence=streaming,isolated", text,
        option);
  }
  std::vector<std::string> sorted = vary.values;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    throw usage_error("{} {}: {} is there twice", option, vary.name, *twice);
  }
  constexpr std::size_t kMost = 64;
  if (sorted.size() > kMost) {
    throw usage_error("{} {}: has {} values; give {} at most", option, vary.name, sorted.size(),
                      kMost);
  }
  return vary;
}

std::string to_text(const Vary& vary) {
  return fmt::format("{}={}", vary.name, join(vary.values, ","));
}

std::string variant_text(const Vary& vary, std::size_t number) {
  return fmt::format("{}={}", vary.name, vary.values.at(number));
}

}  // namespace busbar
