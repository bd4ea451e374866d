// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/log.hpp"

namespace busbar::study {
namespace {

bool is_row(const std::string& text, const Words& columns) {
  try {
    static_cast<void>(read_row(columns, split_words(text)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All ways to join parts of a row with the next one.
Words joined(const Words& ways, View part) {
  constexpr std::size_t kMostWays = 64;
  if (part.empty()) return ways;
  Words longer;
  for (const std::string& way : ways) {
    for (const View seam : {View(" "), View()}) {
      if (longer.size() < kMostWays) longer.push_back(way + std::string(seam) + std::string(part));
    }
  }
  return longer;
}

}  // namespace

std::string part_before(View line, std::size_t mark, std::set<std::string>& hosts) {
  // "PART HOST:PID:THREAD [DEVICE] NCCL INFO", with a time before the host, and a source behind the
  // device, where they are printed.
  View text = line.substr(0, mark);
  const std::size_t colons = text.find(':');
  const std::size_t device = text.find(" [", colons == View::npos ? text.size() : colons);
  if (device == View::npos) return {};
  text = text.substr(0, device);
  const std::size_t start = text.find_last_of(" \t]") + 1;
  View host = text.substr(start);
  const View before = trim(text.substr(0, start));
  host = host.substr(0, host.find(':'));
  const View part = trim(before.substr(0, before.find('[')));
  if (before.empty()) {
    hosts.emplace(host);
    return {};
  }
  // The longest known name that ends the word; else letters begin the name.
  const auto known =
      std::ranges::find_if(hosts, [&](const std::string& name) { return host.ends_with(name); });
  const std::size_t touching = known != hosts.end()
                                   ? host.size() - known->size()
                                   : std::min(host.find_first_not_of("-0123456789."), host.size());
  return std::string(part) + (touching > 0 ? ' ' + std::string(host.substr(0, touching)) : "");
}

void TornRow::extend(View part) { ways = joined(ways, part); }

std::optional<LogLine> TornRow::close(View part, const Words& columns) {
  Words rows = joined(ways, part);
  std::erase_if(rows, [&](const std::string& way) { return !is_row(way, columns); });
  if (rows.size() != 1) return std::nullopt;
  ways.clear();
  return LogLine{.number = line.number, .text = rows.front()};
}

}  // namespace busbar::study
