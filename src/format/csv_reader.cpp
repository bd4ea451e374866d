// SPDX-License-Identifier: BSD-3-Clause
#include "format/csv_reader.hpp"

// The library copies file names into a fixed array on purpose; g++ 12 warns of it when it inlines.
#pragma GCC diagnostic ignored "-Wstringop-truncation"

#include <libfccp/csv.h>

#include "base/input_file.hpp"

namespace busbar {
namespace {

/// The bytes of a file or pipe, and the last of them.
class FileBytes : public io::ByteSourceBase {
 public:
  FileBytes(const std::string& path, char& last) : file_(open_input(path)), last_(last) {
    if (!file_) throw usage_error("cannot read {}", path);
  }
  int read(char* buffer, int size) override {
    file_.read(buffer, size);
    if (file_.gcount() > 0) last_ = buffer[file_.gcount() - 1];
    return static_cast<int>(file_.gcount());
  }

 private:
  std::ifstream file_;
  char& last_;
};

/// Replaces `cells` by those of a line, which it takes apart. False where a quote is not closed.
bool split_cells(std::string& line, std::vector<std::string>& cells) {
  using Quotes = io::double_quote_escape<',', '"'>;
  cells.clear();
  char* begin = line.data();
  char* const line_end = begin + line.size();
  try {
    for (bool more = true; more;) {
      char* end = begin + (Quotes::find_next_column_end(begin) - begin);
      more = end < line_end && *end == ',';
      char* const next = end + 1;
      *end = '\0';
      io::trim_chars<' '>::trim(begin, end);
      Quotes::unescape(begin, end);
      cells.emplace_back(begin, end);
      begin = next;
    }
  } catch (const io::error::escaped_string_not_closed&) {
    return false;
  }
  return true;
}

}  // namespace

std::string as_comments(std::string_view prefix, std::string_view lines) {
  std::string text;
  for (const std::string& line : split(lines, '\n')) {
    if (!line.empty()) text += fmt::format("{}{}\n", prefix, line);
  }
  return text;
}

std::vector<std::string> from_comments(std::string_view prefix, std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(prefix)) lines.push_back(line.substr(prefix.size()));
  }
  return lines;
}

std::vector<std::string> csv_cells(std::string line) {
  std::vector<std::string> cells;
  if (!split_cells(line, cells)) cells.clear();
  return cells;
}

struct CsvReader::Lines {
  explicit Lines(const std::string& path) : reader(path, std::make_unique<FileBytes>(path, last)) {}

  char last = '\n';
  io::LineReader reader;
};

CsvReader::CsvReader(const std::string& path) : path_(path), lines_(new Lines(path)) {
  ahead();
  while (next_line()) {
    if (!line_.starts_with('#')) break;
    head_.push_back(line_);
  }
  columns_ = line_;
  place_ = fmt::format("{}:{}", path_, number_);
}

CsvReader::~CsvReader() = default;

/// Reads the line after this one: only then it is known whether this one has an end.
void CsvReader::ahead() {
  try {
    const char* line = lines_->reader.next_line();
    next_.reset();
    if (line != nullptr) next_ = without_controls(line);  // it may reach a terminal
  } catch (const io::error::line_length_limit_exceeded&) {
    throw usage_error("{}:{}: a line is too long for a CSV", path_, number_ + 1);
  }
}

/// The next line with an end and something in it; else an empty one.
bool CsvReader::next_line() {
  while (next_) {
    line_ = std::move(*next_);
    ++number_;
    ahead();
    if (!next_ && lines_->last != '\n') {
      cut_place_ = fmt::format("{}:{}", path_, number_);
      break;
    }
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
    throw usage_error("{}: a quote is not closed", place_);
  }
  return false;
}

CsvRows::CsvRows(const std::string& path) : reader_(path) {
  if (columns().empty()) {
    throw usage_error(
        "{}: no line names columns: it is empty or was cut off; name another file, or remove this "
        "one",
        path);
  }
  std::vector<std::string> names;
  std::string line = columns();
  (void)split_cells(line, names);
  for (const std::string_view needed : {"collective", "size_bytes"}) {
    if (contains(names, needed)) continue;
    constexpr std::size_t kMost = 60;
    throw usage_error(
        "{}: not a CSV of busbar: '{}' names no columns collective and size_bytes; busbar import "
        "converts logs",
        reader_.place(), one_line(columns().substr(0, kMost)));
  }
  const auto fields = record_fields();
  for (const std::string& name : names) {
    fields_.push_back(find_by(fields, name, &RecordField::name));
  }
}

bool CsvRows::next(Record& record) {
  if (!reader_.next()) return false;
  const std::vector<std::string>& cells = reader_.cells();
  if (cells.size() != fields_.size()) {
    throw usage_error(
        "{}: {} where the line of names has {}; name another file, or remove this one",
        reader_.place(), counted(cells.size(), "cell"), fields_.size());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (fields_[i] == nullptr || cells[i].empty()) continue;
    try {
      fields_[i]->set(record, cells[i]);
    } catch (const Error& error) {
      throw usage_error("{}: column {}: '{}' is {}", reader_.place(), fields_[i]->name, cells[i],
                        error.what());
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
    facts.insert_or_assign(fact_key(trim(text.substr(1, colon - 1))), trim(text.substr(colon + 2)));
  }
  return facts;
}

std::string value_of(const Facts& facts, const Fact& fact) {
  const auto found = facts.find(key(fact));
  return found == facts.end() ? std::string() : found->second;
}

CsvFile read_csv(const std::string& path) {
  CsvRows rows(path);
  CsvFile file{.head = rows.head(), .columns = rows.columns(), .records = {}, .cut = {}};
  for (Record record; rows.next(record); record = {}) file.records.push_back(std::move(record));
  file.cut = rows.cut();
  return file;
}

}  // namespace busbar
