// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/record_fields.hpp"

namespace busbar {
namespace {

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

/// Takes the next cell off a line, without blanks and quotes around it. Quotes inside a quoted cell
/// are doubled (RFC 4180); `unquoted` holds such a cell. False where a quote is not closed.
bool take_cell(std::string_view& line, std::string_view& cell, std::string& unquoted) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  if (start == line.size() || line[start] != '"') {
    const std::size_t end = std::min(line.find(','), line.size());
    cell = line.substr(0, end);
    if (!cell.empty() && (cell.front() == ' ' || cell.back() == ' ')) cell = trim(cell);
    line.remove_prefix(end);
    return true;
  }
  unquoted.clear();
  std::size_t at = start + 1;
  for (; at < line.size(); ++at) {
    if (line[at] == '"' && line.substr(at + 1, 1) != "\"") break;
    if (line[at] == '"') ++at;
    unquoted += line[at];
  }
  if (at == line.size()) return false;
  cell = unquoted;
  line.remove_prefix(at + 1);
  line.remove_prefix(std::min(line.find(','), line.size()));
  return true;
}

[[noreturn]] void refuse(const std::string& path, std::size_t line, std::string_view why) {
  throw usage_error(
      fmt::format("{}:{}: {}; give another file with --csv, or remove this one", path, line, why));
}

/// For every column of the file the field to set; null for one that is unknown or not wanted.
using Plan = std::vector<const RecordField*>;

const RecordField* field_of(std::string_view name, std::span<const std::string_view> wanted) {
  const auto fields = record_fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const RecordField& field) { return field.name == name; });
  const bool skipped =
      !wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  return found == fields.end() || skipped ? nullptr : &*found;
}

Plan plan_of(const CsvFile& file, const std::string& path,
             std::span<const std::string_view> wanted) {
  Plan plan;
  bool collective = false;
  bool size = false;
  for (const std::string& cell : split(file.columns, ',')) {
    const std::string_view name = trim(cell);
    collective = collective || name == "collective";
    size = size || name == "size_bytes";
    const RecordField* field = field_of(name, wanted);
    if (field != nullptr && std::find(plan.begin(), plan.end(), field) != plan.end()) {
      refuse(path, file.head.size() + 1, fmt::format("two columns {}", name));
    }
    plan.push_back(field);
  }
  if (!collective || !size) {
    throw usage_error(
        fmt::format("{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
  }
  return plan;
}

void read_record(Record& record, std::string_view line, const Plan& plan, const std::string& path,
                 std::size_t number) {
  std::string unquoted;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (i > 0) {
      if (line.empty()) refuse(path, number, "fewer cells than columns have names");
      line.remove_prefix(1);
    }
    std::string_view cell;
    if (!take_cell(line, cell, unquoted)) refuse(path, number, "a quote that is not closed");
    if (cell.empty() || plan[i] == nullptr) continue;
    try {
      plan[i]->set(record, cell);
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}:{}: column {}: '{}' is {}", path, number, plan[i]->name,
                                    cell, error.what()));
    }
  }
  if (!line.empty()) refuse(path, number, "more cells than columns have names");
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
  std::size_t start = read_head(file, text);
  const Plan plan = plan_of(file, path, columns);
  file.records.reserve(rows_about(std::string_view(text).substr(start)));
  for (std::size_t number = file.head.size() + 2; start < text.size(); ++number) {
    const std::size_t end = text.find('\n', start);
    std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('#')) {
      read_record(file.records.emplace_back(), line, plan, path, number);
    }
  }
  return file;
}

}  // namespace busbar
