// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/nccl_row.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/data_type.hpp"
#include "study/import/log_lines.hpp"

namespace busbar::study {
namespace {

bool is_time(std::string_view column) { return column == "time" || column == "cputime"; }

std::size_t words_in(std::string_view column) { return column == "timestamp" ? 2 : 1; }

bool is_word(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

Printed number_in(std::string_view column, std::string_view word) {
  const auto value = printed_number(word);
  if (!value) throw usage_error(fmt::format("column {}: '{}' is not a number", column, word));
  return *value;
}

std::uint64_t count_in(std::string_view column, std::string_view word) {
  const auto value = whole_number(word);
  if (!value) throw usage_error(fmt::format("column {}: '{}' is not a whole number", column, word));
  return *value;
}

int small_in(std::string_view column, std::string_view word) {
  const auto value = small_number(word);
  if (!value) throw usage_error(fmt::format("column {}: '{}' is not a small number", column, word));
  return *value;
}

std::optional<double> checked_in(std::string_view column, std::string_view word) {
  if (word == "N/A") return std::nullopt;
  return number_in(column, word).value;
}

void set_type(LogRow& row, std::string_view word) {
  if (!is_type_name(word)) {
    throw usage_error(fmt::format("column type: '{}' is no element type", word));
  }
  row.type = word;
}

/// A column that stands once in a row; false where it is not one of them.
bool set_of_row(LogRow& row, std::string_view column, std::string_view word) {
  if (column == "size") {
    row.size = count_in(column, word);
  } else if (column == "count") {
    row.count = count_in(column, word);
  } else if (column == "type") {
    set_type(row, word);
  } else if (column == "redop") {
    row.op = word;
  } else if (column == "root") {
    row.root = small_in(column, word);
  } else if (column == "nodes") {
    row.nodes = small_in(column, word);
  } else if (column == "#iters") {
    row.operations = count_in(column, word);
  } else {
    return false;
  }
  return true;
}

/// A column of a half; columns that nobody here knows are passed over.
void set_of_half(LogHalf& half, std::string_view column, std::string_view word) {
  if (column == "time") {
    half.time_us = number_in(column, word);
  } else if (column == "cputime") {
    half.cpu_time_us = number_in(column, word);
  } else if (column == "algbw") {
    half.algbw_GBps = number_in(column, word);
  } else if (column == "busbw") {
    half.busbw_GBps = number_in(column, word);
  } else if (column == "#wrong") {
    half.wrong = checked_in(column, word);
  } else if (column == "error") {
    half.error = checked_in(column, word);
  } else if (column == "i_min") {
    half.min_us = number_in(column, word).value;
  } else if (column == "i_max") {
    half.max_us = number_in(column, word).value;
  } else if (column == "i_p99") {
    half.p99_us = number_in(column, word).value;
  }
}

/// Old versions leave the reduction out where there is none, and the column's name stands.
bool lacks_op(const LogColumns& columns, std::span<const std::string> words, std::size_t expected) {
  const auto op = std::find(columns.begin(), columns.end(), "redop");
  if (op == columns.end() || words.size() + 1 != expected) return false;
  const auto place = static_cast<std::size_t>(op - columns.begin());
  return place >= words.size() || !is_word(words[place]);
}

}  // namespace

bool is_type_name(std::string_view word) { return size_of_type(word) > 0; }

Bytes size_of_type(std::string_view word) {
  for (const TypeInfo& known : kTypes) {
    if (known.name == word) return known.size;
  }
  // Older names of the same types.
  constexpr std::array<std::pair<std::string_view, Bytes>, 6> kOthers{
      {{"char", 1}, {"int", 4}, {"fp8_e4m3", 1}, {"fp8_e5m2", 1}, {"bf16", 2}, {"float16", 2}}};
  for (const auto& [name, size] : kOthers) {
    if (name == word) return size;
  }
  return 0;
}

std::optional<LogColumns> columns_of(std::span<const std::string> words) {
  if (!words.empty() && words.front() == "#") words = words.subspan(1);
  LogColumns columns(words.begin(), words.end());
  if (!columns.empty() && columns.front().starts_with('#')) columns.front().erase(0, 1);
  const auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  const bool complete = has("size") && has("count") && has("type") && has("algbw") &&
                        has("busbw") && (has("time") || has("cputime"));
  return complete ? std::optional(columns) : std::nullopt;
}

std::optional<LogColumns> columns_by_shape(std::span<const std::string> words) {
  constexpr std::size_t kHalves = 8;
  if (words.size() < 3 + kHalves || words.size() > 5 + kHalves || !is_type_name(words[2])) {
    return std::nullopt;
  }
  LogColumns columns{"size", "count", "type"};
  const std::size_t more = words.size() - kHalves - columns.size();
  const bool op = is_word(words[3]);
  if ((more == 0 && op) || (more == 2 && !op)) return std::nullopt;
  if (more > 0 && op) columns.emplace_back("redop");
  if (more == 2 || (more == 1 && !op)) columns.emplace_back("root");
  // A check's column: counts are whole, relative differences have an exponent.
  const std::string_view check = words.back();
  const char* name = check.find('e') == std::string_view::npos ? "#wrong" : "error";
  for (int half = 0; half < 2; ++half) {
    for (const char* column : {"time", "algbw", "busbw", name}) columns.emplace_back(column);
  }
  return columns;
}

LogRow read_row(const LogColumns& columns, std::span<const std::string> words) {
  std::size_t expected = 0;
  for (const std::string& column : columns) expected += words_in(column);
  const bool no_op = lacks_op(columns, words, expected);
  if (words.size() != expected && !no_op) {
    throw usage_error(fmt::format("{} where the columns' names want {}",
                                  counted(words.size(), "word"), expected));
  }
  LogRow row;
  std::size_t at = 0;
  for (const std::string& column : columns) {
    if (no_op && column == "redop") continue;
    if (is_time(column)) row.halves.push_back({.in_place = !row.halves.empty()});
    const std::string& word = words[at];
    if (column == "timestamp") {
      row.finished_at = word + ' ' + words[at + 1];
    } else if (!set_of_row(row, column, word) && !row.halves.empty()) {
      set_of_half(row.halves.back(), column, word);
    }
    at += words_in(column);
  }
  return row;
}

}  // namespace busbar::study
