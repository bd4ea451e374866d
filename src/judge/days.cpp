// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/error.hpp"
#include "judge/baseline.hpp"

namespace busbar::judge {
namespace {

std::chrono::sys_days day_of(const std::string& date) {
  const auto number = [&](std::size_t from, std::size_t length) {
    int value = -1;
    const char* begin = date.data() + from;
    const auto read = std::from_chars(begin, begin + length, value);
    return read.ptr == begin + length ? value : -1;
  };
  if (date.size() == 10 && date[4] == '-' && date[7] == '-') {
    const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    if (day.ok()) return day;
  }
  throw usage_error(fmt::format("'{}' is no date: write it as 2026-11-21", date));
}

}  // namespace

int days_between(const std::string& from, const std::string& to) {
  return static_cast<int>((day_of(to) - day_of(from)).count());
}

}  // namespace busbar::judge
