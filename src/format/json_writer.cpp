// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_writer.hpp"

namespace busbar {
namespace {

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

void JsonWriter::begin(const RunContext& context) {
  Json facts;
  for (const auto& [key, value] : context.facts) facts[key] = value;
  facts["notes"] = context.notes;
  file_.begin({{"context", facts}}, "rows");
}

void JsonWriter::write(const Row& row) { file_.add(to_json(row.record)); }

void JsonWriter::end(const RunSummary& summary) {
  const Json json{{"measured_rows", summary.rows},
                  {"skipped_rows", summary.skipped},
                  {"wrong_rows", summary.wrong_rows},
                  {"mean_busbw_GBps", summary.mean_busbw_GBps},
                  {"finished", summary.finished_at}};
  file_.end({{"summary", json}});
}

}  // namespace busbar
