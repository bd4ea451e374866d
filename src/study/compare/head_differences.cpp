// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/compare/comparison.hpp"

namespace busbar::study {
namespace {

using Values = std::set<std::string>;
using Of = std::function<void(const Launch&, Values&)>;

Values values_in(std::span<const Launch> launches, const Of& of) {
  Values values;
  for (const Launch& launch : launches) of(launch, values);
  return values;
}

std::string words_of(const Values& values) {
  const std::vector<std::string> list(values.begin(), values.end());
  return list.empty() ? "nothing" : join(list, ", ");
}

/// The words of "key=value key=value" of one launch.
void configuration_of(const Launch& launch, Values& values) {
  for (const std::string& word : split(launch.fact("configuration"), ' ')) {
    if (!word.empty()) values.insert(word);
  }
}

/// What only one of two has: "cadence=streaming | cadence=isolated".
std::string difference_of(const Values& before, const Values& after) {
  Values lost;
  Values gained;
  for (const std::string& word : before) {
    if (!after.contains(word)) lost.insert(word);
  }
  for (const std::string& word : after) {
    if (!before.contains(word)) gained.insert(word);
  }
  if (lost.empty() && gained.empty()) return {};
  return fmt::format("before {}, after {}", words_of(lost), words_of(gained));
}

void ranks_of(const Launch& launch, Values& values) {
  for (const int ranks : launch.ranks) values.insert(fmt::format("{}", ranks));
}

template <auto Member>
void cells_of(const Launch& launch, Values& values) {
  values.insert((launch.*Member).begin(), (launch.*Member).end());
}

}  // namespace

std::vector<std::string> head_differences(std::span<const Launch> before,
                                          std::span<const Launch> after) {
  const auto fact = [](const char* key) {
    return [key](const Launch& launch, Values& values) {
      const std::string value = launch.fact(key);
      if (!value.empty()) values.insert(value);
    };
  };
  struct Subject {
    std::string_view what;
    Of of;
  };
  const std::array<Subject, 10> subjects{{
      {"libraries", fact("library")},
      {"tools", fact("tool")},
      {"versions of busbar", fact("busbar")},
      {"hosts", fact("hosts")},
      {"environments", fact("environment")},
      {"backends", cells_of<&Launch::backends>},
      {"device sets", cells_of<&Launch::device_sets>},
      {"aggregations over ranks", cells_of<&Launch::aggregations>},
      {"numbers of ranks", ranks_of},
      {"configurations", configuration_of},
  }};
  std::vector<std::string> lines;
  for (const Subject& subject : subjects) {
    const std::string difference =
        difference_of(values_in(before, subject.of), values_in(after, subject.of));
    if (!difference.empty()) {
      lines.push_back(fmt::format("{} differ: {}", subject.what, difference));
    }
  }
  const auto simulated = [](const Launch& launch, Values& values) {
    values.insert(launch.simulated() ? "simulated" : "measured");
  };
  Values kinds = values_in(before, simulated);
  kinds.merge(values_in(after, simulated));
  if (kinds.contains("simulated")) {
    lines.push_back(fmt::format("rows are {}", kinds.size() > 1 ? "simulated and measured, mixed"
                                                                : "simulated, not measured"));
  }
  return lines;
}

}  // namespace busbar::study
