// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

// The library copies file names into a fixed array on purpose; g++ 12 warns of it when it inlines.
#pragma GCC diagnostic ignored "-Wstringop-truncation"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <libfccp/csv.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/record_fields.hpp"

namespace busbar {
namespace {

using Reader =
    io::CSVReader<kRecordFieldCount, io::trim_chars<' '>, io::double_quote_escape<',', '"'>,
                  io::throw_on_overflow, io::single_line_comment<'#'>>;
/// Where the cells of a line begin, in the reader's own memory; null for a column that is not
/// there.
using Cells = std::array<char*, kRecordFieldCount>;
/// Which columns are wanted, in the order of record_fields.
using Wanted = std::array<bool, kRecordFieldCount>;

std::string whole_lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw usage_error(fmt::format("cannot read {}", path));
  const std::streamoff size = file.tellg();
  file.seekg(0);
  std::string lines;
  if (size > 0) {
    lines.resize(static_cast<std::size_t>(size));
    file.read(lines.data(), size);
    lines.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  } else {
    file.clear();  // a pipe has no size
    lines.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::size_t end = lines.rfind('\n');
  lines.resize(end == std::string::npos ? 0 : end + 1);
  return lines;
}

Wanted wanted_of(std::span<const std::string_view> columns) {
  Wanted wanted{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string_view name = record_fields()[i].name;
    wanted.at(i) =
        columns.empty() || std::find(columns.begin(), columns.end(), name) != columns.end();
  }
  return wanted;
}

void read_columns(Reader& reader) {
  std::array<std::string, kRecordFieldCount> names;
  for (std::size_t i = 0; i < names.size(); ++i) names.at(i) = record_fields()[i].name;
  std::apply(
      [&](const auto&... name) {
        reader.read_header(io::ignore_extra_column | io::ignore_missing_column, name...);
      },
      names);
}

void fill(Record& record, const Cells& cells, const Wanted& wanted, const std::string& path,
          unsigned line) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* cell = cells.at(i);
    if (!wanted.at(i) || cell == nullptr || *cell == '\0') continue;
    const RecordField& field = record_fields()[i];
    try {
      field.set(record, cell);
    } catch (const Error& error) {
      throw usage_error(
          fmt::format("{}:{}: column {}: '{}' is {}", path, line, field.name, cell, error.what()));
    }
  }
}

/// The head's lines and the columns' names; returns where the first row begins.
std::size_t read_head(CsvFile& file, std::string_view text) {
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    file.columns = text.substr(start, end - start);
    start = end + 1;
    if (!file.columns.starts_with('#')) return start;
    file.head.push_back(std::exchange(file.columns, {}));
  }
  return start;
}

/// About so many rows follow, by the length of the first.
std::size_t rows_about(std::string_view rows) {
  return rows.empty() ? 0 : rows.size() / (rows.find('\n') + 1) + 1;
}

}  // namespace

CsvFile read_csv(const std::string& path) { return read_csv(path, {}); }

CsvFile read_csv(const std::string& path, std::span<const std::string_view> columns) {
  const std::string text = whole_lines_of(path);
  CsvFile file;
  const std::size_t start = read_head(file, text);
  file.records.reserve(rows_about(std::string_view{text}.substr(start)));
  const Wanted wanted = wanted_of(columns);
  try {
    Reader reader(path, text.data(), text.data() + text.size());
    read_columns(reader);
    if (!reader.has_column("collective") || !reader.has_column("size_bytes")) {
      throw usage_error(fmt::format(
          "{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
    }
    Cells cells{};
    while (std::apply([&](auto&... cell) { return reader.read_row(cell...); }, cells)) {
      fill(file.records.emplace_back(), cells, wanted, path, reader.get_file_line());
      cells.fill(nullptr);
    }
  } catch (const io::error::base& error) {
    throw usage_error(fmt::format("{}; give another file with --csv, or remove this one",
                                  one_line(error.what())));
  }
  return file;
}

}  // namespace busbar
