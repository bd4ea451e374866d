// SPDX-License-Identifier: BSD-3-Clause
#include "report/json_writer.hpp"

#include "model/record.hpp"
#include "report/json.hpp"

namespace busbar {
namespace {

constexpr std::string_view kTail = "\n  ]\n}\n";

std::string dump(const Json& json) { return json_text(json, -1); }

Json to_json(const Record& record) {
  Json row;
  for (const RecordField& field : record_fields()) {
    const std::string text = field.get(record);
    const bool number = field.kind == RecordField::Kind::Number;
    const std::string key(field.name);
    row[key] = number && !text.empty() ? Json::parse(text) : Json(text);
  }
  return row;
}

}  // namespace

JsonWriter::JsonWriter(const std::string& path, bool resume)
    : file_(path, "-J", resume ? OutputFile::Mode::Continue : OutputFile::Mode::New) {
  if (file_.size() > 0) file_.truncate(0);
}

void JsonWriter::begin(const RunContext& context) {
  Json facts;
  for (const auto& [key, value] : context.facts) facts[key] = value;
  facts["notes"] = context.notes;
  const std::string head = "{\n  \"context\": " + dump(facts) + ",\n  \"rows\": [";
  file_.append(head + std::string(kTail));
  rows_end_ = head.size();
}

void JsonWriter::write(const Record& record, std::span<const double> /*samples_us*/) {
  const std::string row = std::string(any_row_ ? "," : "") + "\n    " + dump(to_json(record));
  file_.write_at(rows_end_, row + std::string(kTail));
  rows_end_ += row.size();
  any_row_ = true;
}

void JsonWriter::end(const RunSummary& summary) {
  const Json json{{"measured_rows", summary.rows},
                  {"skipped_rows", summary.skipped},
                  {"wrong_rows", summary.wrong_rows},
                  {"mean_busbw_GBps", summary.mean_busbw_GBps},
                  {"finished", summary.finished_at}};
  file_.write_at(rows_end_, "\n  ],\n  \"summary\": " + dump(json) + "\n}\n");
}

}  // namespace busbar
