// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_writer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/csv_reader.hpp"
#include "report/csv_text.hpp"

namespace busbar {
namespace {

OutputFile::Mode mode(bool resume) {
  return resume ? OutputFile::Mode::Continue : OutputFile::Mode::New;
}

std::string cell(const std::optional<int>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

CsvWriter::CsvWriter(const std::string& path, bool resume) : file_(path, "--csv", mode(resume)) {
  if (file_.size() == 0) return;
  CsvFile earlier = read_csv(path);
  if (earlier.columns + '\n' != csv_header()) {
    throw usage_error(fmt::format(
        "--resume: {} has the columns of another version of busbar; give another file with --csv",
        path));
  }
  file_.drop_unfinished_line();
  earlier_head_ = std::move(earlier.head);
  earlier_ = std::move(earlier.records);
}

std::string CsvWriter::earlier_fact(std::string_view key) const {
  const std::string start = fmt::format("# {}: ", key);
  for (const std::string& line : earlier_head_) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return {};
}

void CsvWriter::begin(const RunContext& context) {
  if (file_.size() > 0) {
    for (const auto& [key, value] : context.facts) {
      if (key == "started" || key == "command") {
        file_.append(fmt::format("# resumed-{}: {}\n", key, value));
      }
    }
    return;
  }
  std::string head;
  for (const auto& [key, value] : context.facts) {
    head += fmt::format("# {}: {}\n", key, one_line(value));
  }
  for (const std::string& note : context.notes) head += fmt::format("# note: {}\n", one_line(note));
  file_.append(head + csv_header());
}

void CsvWriter::write(const Record& record, std::span<const double> /*samples_us*/) {
  file_.append(csv_row(record));
}

void CsvWriter::end(const RunSummary& summary) {
  file_.append(fmt::format("# finished: {}\n", summary.finished_at));
}

SamplesWriter::SamplesWriter(const std::string& path, bool resume)
    : file_(path, "--samples", mode(resume)) {
  if (file_.size() > 0) file_.drop_unfinished_line();
}

void SamplesWriter::begin(const RunContext& /*context*/) {
  if (file_.size() == 0) {
    file_.append(
        "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us,"
        "group,sender,receiver\n");
  }
}

void SamplesWriter::write(const Record& record, std::span<const double> samples_us) {
  std::string lines;
  for (std::size_t i = 0; i < samples_us.size(); ++i) {
    lines += fmt::format("{},{},{},{},{},{},{},{},{},{:.7g},{},{},{}\n", record.collective,
                         record.type, record.op, cell(record.root), record.in_place ? 1 : 0,
                         record.size, record.cycle, record.batch.value_or(1), i, samples_us[i],
                         cell(record.group), cell(record.sender), cell(record.receiver));
  }
  if (!lines.empty()) file_.append(lines);
}

void SamplesWriter::end(const RunSummary& /*summary*/) {}

}  // namespace busbar
