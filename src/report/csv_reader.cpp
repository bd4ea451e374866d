// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

/// The cells of a line; `cells` keeps its memory. False where a quote is not closed.
bool split_cells(std::string_view line, std::vector<std::string>& cells) {
  std::size_t count = 0;
  const auto next_cell = [&]() -> std::string& {
    if (count == cells.size()) cells.emplace_back();
    cells[count].clear();
    return cells[count++];
  };
  std::string* cell = &next_cell();
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ',' && !in_quotes) {
      cell = &next_cell();
    } else if (c != '"') {
      *cell += c;
    } else if (in_quotes && line.substr(i + 1).starts_with('"')) {
      *cell += c;
      ++i;
    } else {
      in_quotes = !in_quotes;
    }
  }
  cells.resize(count);
  for (std::string& one : cells) {
    if (one.starts_with(' ') || one.ends_with(' ')) one = trim(one);
  }
  return !in_quotes;
}

}  // namespace

CsvReader::CsvReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_ || std::filesystem::is_directory(path)) {
    throw usage_error(fmt::format("cannot read {}", path));
  }
  while (next_line()) {
    if (!line_.starts_with('#')) break;
    head_.push_back(line_);
  }
  columns_ = line_;
  place_ = fmt::format("{}:{}", path_, number_);
}

/// The next line with an end and something in it; else an empty one.
bool CsvReader::next_line() {
  while (std::getline(file_, line_)) {
    ++number_;
    if (file_.eof()) {
      cut_place_ = fmt::format("{}:{}", path_, number_);
      break;
    }
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) return true;
  }
  line_.clear();
  return false;
}

bool CsvReader::next() {
  while (next_line()) {
    if (line_.starts_with('#')) {
      finished_ = finished_ || line_.starts_with("# finished:");
      continue;
    }
    place_ = fmt::format("{}:{}", path_, number_);
    if (split_cells(line_, cells_)) return true;
    throw usage_error(fmt::format("{}: a quote is not closed", place_));
  }
  return false;
}

CsvRows::CsvRows(const std::string& path) : reader_(path) {
  if (columns().empty()) {
    throw usage_error(
        fmt::format("{}: no line names columns: it is empty or was cut off; name another file, or "
                    "remove this one",
                    path));
  }
  std::vector<std::string> names;
  (void)split_cells(columns(), names);
  for (const std::string_view needed : {"collective", "size_bytes"}) {
    if (std::find(names.begin(), names.end(), needed) != names.end()) continue;
    throw usage_error(
        fmt::format("{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
  }
  const auto fields = record_fields();
  for (const std::string& name : names) {
    const auto known = std::find_if(fields.begin(), fields.end(),
                                    [&](const RecordField& field) { return field.name == name; });
    fields_.push_back(known == fields.end() ? nullptr : &*known);
  }
}

bool CsvRows::next(Record& record) {
  if (!reader_.next()) return false;
  const std::vector<std::string>& cells = reader_.cells();
  if (cells.size() != fields_.size()) {
    throw usage_error(
        fmt::format("{}: {} where the line of names has {}; name another file, or remove this one",
                    reader_.place(), counted(cells.size(), "cell"), fields_.size()));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (fields_[i] == nullptr || cells[i].empty()) continue;
    try {
      fields_[i]->set(record, cells[i]);
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}: column {}: '{}' is {}", reader_.place(), fields_[i]->name,
                                    cells[i], error.what()));
    }
  }
  return true;
}

std::string CsvRows::cut() const {
  if (!reader_.cut_place().empty()) return "cut off: its last line has no end";
  const bool ours = std::any_of(head().begin(), head().end(), [](const std::string& line) {
    return line.starts_with("# configuration:");
  });
  return ours && !reader_.is_finished() ? "cut off: the run did not finish it" : "";
}

Facts facts_of(std::span<const std::string> head) {
  Facts facts;
  for (const std::string& line : head) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string_view text = line;
    std::string key{trim(text.substr(1, colon - 1))};
    facts.insert_or_assign(std::move(key), trim(text.substr(colon + 2)));
  }
  return facts;
}

CsvFile read_csv(const std::string& path) {
  CsvRows rows(path);
  CsvFile file{.head = rows.head(), .columns = rows.columns(), .records = {}, .cut = {}};
  for (Record record; rows.next(record); record = {}) file.records.push_back(std::move(record));
  file.cut = rows.cut();
  return file;
}

}  // namespace busbar
