// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/rule_list.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/words.hpp"
#include "report/text_table.hpp"

namespace busbar::judge {

std::string multiples(const Expectation& rule) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::optional<double>& bound) {
    if (bound) parts.push_back(fmt::format("{} {:g}", what, *bound));
  };
  add("fails below", rule.bounds.fail_below);
  add("warns below", rule.bounds.warn_below);
  add("warns above", rule.bounds.warn_above);
  add("fails above", rule.bounds.fail_above);
  return join(parts, ", ");
}

std::string sizes_words(const std::vector<Bytes>& sizes) {
  if (sizes.empty()) return {};
  if (sizes.size() == 1) return size_words(sizes.front());
  return fmt::format("{} to {} ({})", size_words(sizes.front()), size_words(sizes.back()),
                     sizes.size());
}

std::string reference_words(const Expectation& rule) {
  std::string words(name(rule.compare));
  if (rule.value) words += fmt::format(" {:g} {}", *rule.value, unit(rule.metric));
  if (rule.compare == Comparison::Fleet) {
    words += fmt::format(", robust z {:g}, MAD up to {:g}", rule.min_robust_z, rule.max_fleet_mad);
  }
  return words;
}

std::string rule_list(const Specification& specification) {
  TextTable table{.columns = {"rule", "collectives", "device set", "sizes", "reference", "bounds"}};
  for (const Expectation& rule : specification.expectations) {
    table.rows.push_back({rule.id, join(rule.collectives, " "), rule.device_set,
                          sizes_words(rule.sizes), reference_words(rule), multiples(rule)});
  }
  std::string text =
      fmt::format("{}{}: {}\n\n{}\n", system_name(specification),
                  specification.profile.empty() ? "" : ", profile " + specification.profile,
                  specification.file, plain_table(table));
  text += "Sources\n";
  for (const Expectation& rule : specification.expectations) {
    text += fmt::format("  {}: {}\n", rule.id, rule.source.empty() ? "none" : rule.source);
  }
  return text;
}

}  // namespace busbar::judge
