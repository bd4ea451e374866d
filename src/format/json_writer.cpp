// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_writer.hpp"

#include <fstream>

#include "format/json.hpp"

namespace busbar {
namespace {

constexpr std::string_view kHead = "{\n  \"context\": ";
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

JsonWriter::JsonWriter(const std::string& path, bool resume) {
  file_.emplace(path, "-J", resume ? OutputFile::Mode::Continue : OutputFile::Mode::New);
  if (file_->size() == 0) return;
  std::string begin(kHead.size(), '\0');
  std::ifstream(path).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kHead) return;
  throw usage_error("-J: {} is not a JSON of an earlier run of busbar; give another name", path);
}

void JsonWriter::begin(const RunContext& context) {
  Json facts;
  for (const auto& [key, value] : context.facts) facts[key] = value;
  facts["notes"] = context.notes;
  std::string head(kHead);
  head += dump(facts) + ",\n  \"rows\": [";
  rows_end_ = head.size();
  if (file_->size() == 0) return file_->append(head.append(kTail));
  const std::string path = file_->path();
  replace_file(path, head.append(kTail), "-J");
  file_.emplace(path, "-J", OutputFile::Mode::Continue);
}

void JsonWriter::write(const Row& row) {
  const std::string text = std::string(any_row_ ? "," : "") + "\n    " + dump(to_json(row.record));
  replace_tail(text + std::string(kTail));
  rows_end_ += text.size();
  any_row_ = true;
}

void JsonWriter::end(const RunSummary& summary) {
  const Json json{{"measured_rows", summary.rows},
                  {"skipped_rows", summary.skipped},
                  {"wrong_rows", summary.wrong_rows},
                  {"mean_busbw_GBps", summary.mean_busbw_GBps},
                  {"finished", summary.finished_at}};
  replace_tail("\n  ],\n  \"summary\": " + dump(json) + "\n}\n");
}

void JsonWriter::replace_tail(const std::string& text) {
  try {
    file_->write_at(rows_end_, text);
  } catch (const Error&) {
    // On a full disk the place of the tail before is still there.
    file_->write_at(rows_end_, kTail);
    file_->truncate(rows_end_ + kTail.size());
    throw;
  }
}

}  // namespace busbar
