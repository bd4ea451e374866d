// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/nccl_text.hpp"

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

void TornRow::begin(const LogLine& part) {
  line_ = part;
  ways_ = {part.text};
}

std::vector<std::string> TornRow::ways_with(View part) const {
  constexpr std::size_t kMostWays = 64;
  if (part.empty()) return ways_;
  std::vector<std::string> ways;
  for (const std::string& way : ways_) {
    for (const View seam : {View(" "), View()}) {
      if (ways.size() < kMostWays) ways.push_back(way + std::string(seam) + std::string(part));
    }
  }
  return ways;
}

void TornRow::extend(View part) { ways_ = ways_with(part); }

std::optional<LogLine> TornRow::close(View part, const Words& columns) {
  std::vector<std::string> rows = ways_with(part);
  std::erase_if(rows, [&](const std::string& way) { return !is_row(way, columns); });
  if (rows.size() != 1) return std::nullopt;
  drop();
  return LogLine{.number = line_.number, .text = rows.front()};
}

}  // namespace busbar::study
