// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

bool is_day(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit != (kForm[i] == 'd') || (!digit && text[i] != '-')) return false;
  }
  const auto number = [&](std::size_t from, std::size_t count) {
    return std::stoi(text.substr(from, count));
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return day.ok();
}

}  // namespace

TextPlace place_of(const toml::node& node) {
  return {.line = node.source().begin.line, .column = node.source().begin.column};
}

TextPlace place_of(const TomlFields& table, std::string_view key) {
  const toml::node* found = table.find(key);
  return found == nullptr ? TextPlace{} : place_of(*found);
}

TomlFields table_of(const TomlFields& file, std::string_view key) {
  const toml::node* found = file.find(key);
  if (found == nullptr) {
    throw file.fault(key, fmt::format("the specification needs a table [{}]; {} describes it", key,
                                      kSpecificationDocument));
  }
  return {*found, file.origin(), fmt::format("[{}]", key)};
}

void refuse_twice(const TomlFields& table, std::string_view key,
                  const std::vector<std::string>& words) {
  std::vector<std::string> sorted = words;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw table.fault(key, fmt::format("\"{}\" is twice in {}", *twice, key));
  }
}

void refuse_without(const TomlFields& table, const std::vector<std::string>& keys,
                    std::string_view what) {
  for (const std::string& key : keys) {
    if (table.has(key)) {
      throw table.fault(key, fmt::format("{} means nothing without {}; leave it out", key, what));
    }
  }
}

std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key) {
  if (!table.required(key).is_array()) return {table.required_text(key)};
  std::vector<std::string> words = table.words(key);
  if (words.empty()) throw table.fault(key, fmt::format("{} is an empty list", key));
  refuse_twice(table, key, words);
  return words;
}

std::string read_day(const TomlFields& table, std::string_view key) {
  const toml::node& node = table.required(key);
  if (const auto* date = node.as_date()) {
    return fmt::format("{:04}-{:02}-{:02}", date->get().year, date->get().month, date->get().day);
  }
  std::string text = table.required_text(key);
  if (!is_day(text)) {
    throw table.fault(
        key, fmt::format(R"({} must be a day of the calendar such as "2026-11-21", not "{}")", key,
                         text));
  }
  return text;
}

int known_ranks(const DeviceSetRule& set, const SystemIdentity& system) {
  const int all = static_cast<int>(system.nodes.size());
  switch (set.kind) {
    case SetKind::PerNode: return set.ranks_per_node;
    case SetKind::Pairwise: return 2 * set.ranks_per_node;
    case SetKind::List: return set.ranks_per_node * static_cast<int>(set.nodes.size());
    case SetKind::Rails: return all;
    case SetKind::Whole: return set.ranks_per_node * all;
  }
  return 0;
}

}  // namespace busbar::judge
