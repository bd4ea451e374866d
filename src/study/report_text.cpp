// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/collective.hpp"

namespace busbar {

std::string join_and(std::span<const std::string> words) {
  if (words.empty()) return {};
  if (words.size() == 1) return words.front();
  return join(words.first(words.size() - 1), ", ") + " and " + words.back();
}

std::string collective_name(const std::string& collective) {
  const Collective* known = find_collective(collective);
  return known == nullptr ? collective : std::string(known->title);
}

std::string format_figure(double value) {
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string format_percent(double share) { return fmt::format("{:.0f} %", share * 100); }

}  // namespace busbar
