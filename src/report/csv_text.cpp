// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_text.hpp"

#include "base/text.hpp"
#include "model/record.hpp"

namespace busbar {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char character : text) {
    if (character == '"') cell += '"';
    cell += character;
  }
  return cell + '"';
}

std::string csv_header() {
  std::string line;
  for (const RecordField& field : record_fields()) {
    if (!line.empty()) line += ',';
    line += field.name;
  }
  return line + '\n';
}

std::string csv_row(const Record& record) {
  std::string line;
  bool first = true;
  for (const RecordField& field : record_fields()) {
    if (!first) line += ',';
    first = false;
    line += csv_cell(one_line(field.get(record)));
  }
  return line + '\n';
}

}  // namespace busbar
