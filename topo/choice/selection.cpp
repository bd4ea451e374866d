// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/selection.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar::topo {
namespace {

constexpr std::array kPolicies{Policy::Prefix, Policy::Best, Policy::Worst, Policy::Median};
constexpr int kMost = 100'000;

void add_range(std::vector<int>& devices, std::string_view option, std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto number = [&](std::string_view digits) {
    return static_cast<int>(parse_integer(option, digits, 0, kMost));
  };
  const int first = number(text.substr(0, dash));
  const int last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (last < first) {
    throw usage_error(
        fmt::format("{}: the range {} runs backwards; write {}-{}", option, text, last, first));
  }
  for (int device = first; device <= last; ++device) devices.push_back(device);
}

}  // namespace

Selection parse_selection(std::string_view option, std::string_view text) {
  for (const Policy policy : kPolicies) {
    if (text == name(policy)) return {.policy = policy};
  }
  Selection selection{.policy = Policy::List};
  if (text.find_first_not_of("0123456789,-") != std::string_view::npos || text.empty()) {
    throw usage_error(fmt::format(
        "{}: '{}' is none of best, worst, median, prefix, or a list of devices such as 0,3,4-7",
        option, text));
  }
  for (const std::string& part : split(text, ',')) add_range(selection.devices, option, part);
  std::vector<int> sorted = selection.devices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return selection;
  throw usage_error(fmt::format("{}: device {} is twice in {}", option, *twice, text));
}

std::string words_of(const Selection& selection) {
  if (selection.policy != Policy::List) return std::string(name(selection.policy));
  std::vector<std::string> words;
  for (const int device : selection.devices) words.push_back(fmt::format("{}", device));
  return join(words, ",");
}

Choice select_devices(const Graph& graph, int k, const Selection& selection,
                      const BoundOptions& options, int host) {
  if (selection.policy != Policy::List) return choose(graph, k, selection.policy, options, host);
  if (selection.devices.size() != static_cast<std::size_t>(k)) {
    throw usage_error(fmt::format(
        "--devices names {}, and {} wanted; give as many as there are ranks on a host",
        counted(selection.devices.size(), "device"), k == 1 ? "1 is" : fmt::format("{} are", k)));
  }
  return {.policy = Policy::List,
          .bound = bound_of(graph, selection.devices, options),
          .reason = "as given"};
}

}  // namespace busbar::topo
