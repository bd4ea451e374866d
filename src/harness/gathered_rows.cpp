// SPDX-License-Identifier: BSD-3-Clause
#include "harness/gathered_rows.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/lists.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr char kSeparator = '\x1f';  // ASCII's unit separator is in no cell

/// Its time, then where they are known the last rank, how late it was, and the times of all ranks.
std::string sample_text(const Row& row, std::size_t sample) {
  std::string text = fmt::format("{}", row.samples_us[sample]);
  if (row.arrivals.empty() && row.rank_times_us.empty()) return text;
  const Arrival arrival = row.arrivals.empty() ? Arrival{.last = -1} : row.arrivals[sample];
  text += fmt::format(" {} {}", arrival.last, arrival.late_us);
  if (row.rank_times_us.empty()) return text;
  return text + ' ' + fmt::format("{}", fmt::join(row.rank_times_us[sample], " "));
}

void parse_sample(std::string_view text, Row& row) {
  const auto numbers = mapped(
      split(text, ' '), [](const std::string& word) { return to_number<double>(word).value(); });
  row.samples_us.push_back(numbers.front());
  if (numbers.size() < 3) return;
  const auto last = static_cast<int>(numbers[1]);
  if (last >= 0) row.arrivals.push_back({.last = last, .late_us = numbers[2]});
  if (numbers.size() > 3) row.rank_times_us.emplace_back(numbers.begin() + 3, numbers.end());
}

}  // namespace

/// The cells of its record, then its samples.
std::string row_text(const Row& row) {
  std::string text;
  for (const RecordField& field : record_fields()) {
    text += one_line(field.get(row.record)) + kSeparator;
  }
  for (std::size_t i = 0; i < row.samples_us.size(); ++i) text += sample_text(row, i) + kSeparator;
  return text;
}

Row parse_row(std::string_view text) {
  Row row;
  std::vector<std::string> cells = split(text, kSeparator);
  cells.pop_back();  // what follows the last separator
  const auto fields = record_fields();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i < fields.size()) {
      fields[i].set(row.record, cells[i]);
    } else {
      parse_sample(cells[i], row);
    }
  }
  return row;
}

std::vector<Row> gather_rows(const RoundGroup& round_group, const Row& mine) {
  std::vector<Row> rows;
  for (std::string& text :
       round_group.world.gather_texts(round_group.leads() ? row_text(mine) : "")) {
    if (!text.empty()) rows.push_back(parse_row(std::exchange(text, {})));
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.record.group; });
  return rows;
}

}  // namespace busbar
