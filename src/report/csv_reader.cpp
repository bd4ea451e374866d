// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/record.hpp"

namespace busbar {
namespace {

using Text = std::unique_ptr<std::istream>;

/// A file's text, which can be gone through twice; that of a pipe is read into memory.
Text open_text(const std::string& path) {
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file || std::filesystem::is_directory(path)) {
    throw usage_error(fmt::format("cannot read {}", path));
  }
  if (file->seekg(0, std::ios::end).tellg() > 0) return file;
  file->clear();  // a pipe has no end to go to
  auto text = std::make_unique<std::stringstream>();
  *text << file->rdbuf();
  text->clear();  // of a text without a byte
  return text;
}

/// The next whole line; a last one without its end is none.
bool next_line(std::istream& text, std::string& line) {
  if (!std::getline(text, line) || text.eof()) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

/// What is above the rows.
struct Head {
  std::vector<std::string> lines;
  std::string columns;
  std::size_t line_number = 0;  ///< of the columns
  std::string cut;
};

/// As CsvRows::cut; `tail` is the end of the text.
std::string why_cut(std::string_view tail, const std::vector<std::string>& head) {
  if (!tail.empty() && tail.back() != '\n') return "cut off: its last line has no end";
  const bool ours = std::any_of(head.begin(), head.end(), [](const std::string& line) {
    return line.starts_with("# configuration:");
  });
  const bool finished = !ours || tail.find("# finished:") != std::string_view::npos;
  return finished ? "" : "cut off: the run did not finish it";
}

/// Leaves the text where the rows begin.
Head read_head(std::istream& text) {
  constexpr std::streamoff kTail = 4096;
  Head head;
  std::string line;
  while (head.columns.empty() && next_line(text, line)) {
    ++head.line_number;
    (line.starts_with('#') ? head.lines.emplace_back() : head.columns) = line;
  }
  text.clear();
  const std::streamoff rows = text.tellg();
  const std::streamoff end = text.seekg(0, std::ios::end).tellg();
  std::string tail(static_cast<std::size_t>(std::min(end, kTail)), '\0');
  text.seekg(end - static_cast<std::streamoff>(tail.size()));
  text.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  head.cut = why_cut(tail, head.lines);
  text.seekg(rows);
  return head;
}

/// Splits a line by RFC 4180, less the blanks around a cell; false where a quote has no end.
bool split_cells(std::string_view line, std::vector<std::string>& cells) {
  std::size_t count = 0;
  bool quoted = false;
  const auto cell = [&]() -> std::string& {
    if (count == cells.size()) cells.emplace_back();
    return cells[count];
  };
  cell().clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && line.substr(i + 1).starts_with('"')) {
      cell() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      ++count;
      cell().clear();
    } else {
      cell() += c;
    }
  }
  cells.resize(count + 1);
  return !quoted;
}

/// Without these a CSV is none of ours, so they are always read.
constexpr std::array<std::string_view, 2> kNeeded{"collective", "size_bytes"};

bool has(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// The field of each column of the file; null for one that is unknown or not wanted.
std::vector<const RecordField*> fields_of(const std::string& path, const std::string& header,
                                          std::span<const std::string_view> wanted) {
  if (header.empty()) {
    throw usage_error(
        fmt::format("{}: no line names columns: it is empty or was cut off; name another file, or "
                    "remove this one",
                    path));
  }
  std::vector<std::string> names;
  (void)split_cells(header, names);
  std::vector<const RecordField*> fields;
  for (const std::string& name : names) {
    const auto field =
        std::find_if(record_fields().begin(), record_fields().end(),
                     [&](const RecordField& known) { return known.name == trim(name); });
    const bool read = field != record_fields().end() &&
                      (wanted.empty() || has(wanted, field->name) || has(kNeeded, field->name));
    fields.push_back(read ? &*field : nullptr);
    if (read && std::count(fields.begin(), fields.end(), &*field) > 1) {
      throw usage_error(fmt::format("{}: the column {} is there twice; remove one", path, name));
    }
  }
  for (const std::string_view needed : kNeeded) {
    const bool there = std::any_of(fields.begin(), fields.end(), [&](const RecordField* field) {
      return field != nullptr && field->name == needed;
    });
    if (there) continue;
    throw usage_error(
        fmt::format("{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
  }
  return fields;
}

}  // namespace

struct CsvRows::State {
  std::string path;
  Text text;
  Head head;
  std::vector<const RecordField*> fields{};
  std::size_t line_number = head.line_number;
  std::string line{};
  std::vector<std::string> cells{};
};

CsvRows::CsvRows(const std::string& path, std::span<const std::string_view> columns) {
  Text text = open_text(path);
  text->clear();
  text->seekg(0);
  Head head = read_head(*text);
  state_ = std::make_unique<State>(
      State{.path = path, .text = std::move(text), .head = std::move(head)});
  state_->fields = fields_of(path, state_->head.columns, columns);
}

CsvRows::~CsvRows() = default;

const std::vector<std::string>& CsvRows::head() const { return state_->head.lines; }
const std::string& CsvRows::columns() const { return state_->head.columns; }
const std::string& CsvRows::cut() const { return state_->head.cut; }

bool CsvRows::next(Record& record) {
  State& state = *state_;
  do {
    if (!next_line(*state.text, state.line)) return false;
    ++state.line_number;
  } while (state.line.starts_with('#'));
  const bool closed = split_cells(state.line, state.cells);
  if (!closed || state.cells.size() != state.fields.size()) {
    throw usage_error(fmt::format(
        "{}:{}: {}; name another file, or remove this one", state.path, state.line_number,
        closed ? fmt::format("{} cells, expected {}", state.cells.size(), state.fields.size())
               : "a quote has no end"));
  }
  for (std::size_t i = 0; i < state.fields.size(); ++i) {
    const std::string_view cell = trim(state.cells[i]);
    if (state.fields[i] == nullptr || cell.empty()) continue;
    try {
      state.fields[i]->set(record, cell);
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}:{}: column {}: '{}' is {}", state.path, state.line_number,
                                    state.fields[i]->name, cell, error.what()));
    }
  }
  return true;
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
  CsvFile file{.head = rows.head(), .columns = rows.columns(), .records = {}, .cut = rows.cut()};
  while (rows.next(file.records.emplace_back())) {
  }
  file.records.pop_back();
  return file;
}

}  // namespace busbar
