// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

// The library copies file names into a fixed array on purpose; g++ 12 warns of it when it inlines.
#pragma GCC diagnostic ignored "-Wstringop-truncation"

#include <array>
#include <fstream>
#include <sstream>
#include <tuple>

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
using Cells = std::array<std::string, kRecordFieldCount>;

std::string whole_lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(fmt::format("cannot read {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  std::string lines = text.str();
  const std::size_t end = lines.rfind('\n');
  lines.resize(end == std::string::npos ? 0 : end + 1);
  return lines;
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

Record record_from(const Cells& cells, const std::string& path, unsigned line) {
  Record record;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RecordField& field = record_fields()[i];
    if (cells.at(i).empty()) continue;
    try {
      field.set(record, cells.at(i));
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}:{}: column {}: '{}' is {}", path, line, field.name,
                                    cells.at(i), error.what()));
    }
  }
  return record;
}

}  // namespace

CsvFile read_csv(const std::string& path) {
  const std::string text = whole_lines_of(path);
  CsvFile file;
  std::istringstream lines(text);
  while (std::getline(lines, file.columns) && file.columns.starts_with('#')) {
    file.head.push_back(file.columns);
  }
  try {
    Reader reader(path, text.data(), text.data() + text.size());
    read_columns(reader);
    if (!reader.has_column("collective") || !reader.has_column("size_bytes")) {
      throw usage_error(fmt::format(
          "{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
    }
    Cells cells;
    while (std::apply([&](auto&... cell) { return reader.read_row(cell...); }, cells)) {
      file.records.push_back(record_from(cells, path, reader.get_file_line()));
      cells.fill({});
    }
  } catch (const io::error::base& error) {
    throw usage_error(fmt::format("{}; give another file with --csv, or remove this one",
                                  one_line(error.what())));
  }
  return file;
}

}  // namespace busbar
