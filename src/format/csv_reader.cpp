// SPDX-License-Identifier: BSD-3-Clause
#include "format/csv_reader.hpp"

#include "base/input_file.hpp"

namespace busbar {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestLine = std::size_t{1} << 24U;

/// A cell without blanks and quotes around it; within those two quotes are one.
std::string bare(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() < 2 || !cell.starts_with('"') || !cell.ends_with('"')) return std::string(cell);
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"' && cell[i + 1] == '"' && i + 2 < cell.size()) ++i;
  }
  return text;
}

/// Replaces `cells` by those of a line. False where a quote is not closed.
bool split_cells(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    if (std::ranges::count(line.substr(at, comma - at), '"') % 2 != 0) quoted = !quoted;
    at = comma + 1;
    if (quoted) continue;
    cells.push_back(bare(line.substr(begin, comma - begin)));
    begin = at;
  }
  return !quoted;
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

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  if (!split_cells(line, cells)) cells.clear();
  return cells;
}

CsvReader::CsvReader(const std::string& path)
    : path_(path), file_(open_input(path)), buffer_(new char[kLongestLine]) {
  if (!file_) throw usage_error("cannot read {}", path);
  while (next_line()) {
    if (!line_.starts_with('#')) break;
    head_.push_back(line_);
  }
  columns_ = line_;
  place_ = fmt::format("{}:{}", path_, number_);
}

/// The next line with an end and something in it; else an empty one.
bool CsvReader::next_line() {
  while (file_.getline(buffer_.get(), kLongestLine)) {
    std::string_view line = buffer_.get();
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (++number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(3);
    line_ = without_controls(line);  // it may reach a terminal
    if (file_.eof()) {
      cut_place_ = fmt::format("{}:{}", path_, number_);
      break;
    }
    if (!line_.empty()) return true;
  }
  if (!file_.eof() && !file_.bad()) {
    throw usage_error("{}:{}: a line is too long for a CSV", path_, number_ + 1);
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
  (void)split_cells(columns(), names);
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
