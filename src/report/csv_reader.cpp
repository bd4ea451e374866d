// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

// The library copies file names into a fixed array on purpose; g++ 12 warns of it when it inlines.
#pragma GCC diagnostic ignored "-Wstringop-truncation"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <libfccp/csv.h>
#include <sstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/record.hpp"

namespace busbar {
namespace {

using Reader =
    io::CSVReader<kRecordFieldCount, io::trim_chars<' '>, io::double_quote_escape<',', '"'>,
                  io::throw_on_overflow, io::single_line_comment<'#'>>;
/// Where the cells of a line begin, in the reader's own memory; null for a column that is not
/// there.
using Cells = std::array<char*, kRecordFieldCount>;
using Text = std::unique_ptr<std::istream>;

/// The first bytes of a text, for the library, which asks for them in blocks.
class FirstBytes final : public io::ByteSourceBase {
 public:
  FirstBytes(Text text, std::streamoff count) : text_(std::move(text)), left_(count) {}

  int read(char* buffer, int size) override {
    text_->read(buffer, std::min<std::streamoff>(size, left_));
    left_ -= text_->gcount();
    return static_cast<int>(text_->gcount());
  }

 private:
  Text text_;
  std::streamoff left_ = 0;
};

/// A file's text, which can be gone through twice; that of a pipe is read into memory.
Text open_text(const std::string& path) {
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file || std::filesystem::is_directory(path)) {
    throw usage_error(fmt::format("cannot read {}", path));
  }
  if (file->seekg(0, std::ios::end).tellg() > 0) return file;
  file->clear();  // a pipe has no end to go to
  auto text = std::make_unique<std::stringstream>();
  *text << file->rdbuf();
  text->clear();  // of a text without a byte
  return text;
}

/// Where the text's last whole line ends, looked for from the end.
std::streamoff end_of_lines(std::istream& text) {
  std::array<char, 4096> block{};
  text.seekg(0, std::ios::end);
  std::streamoff begin = std::max<std::streamoff>(text.tellg(), 0);
  while (begin > 0) {
    const auto size = std::min<std::streamoff>(begin, block.size());
    begin -= size;
    text.seekg(begin);
    text.read(block.data(), size);
    if (text.gcount() < size) return 0;
    const std::string_view read(block.data(), static_cast<std::size_t>(size));
    const std::size_t place = read.rfind('\n');
    if (place != std::string_view::npos) return begin + static_cast<std::streamoff>(place) + 1;
  }
  return 0;
}

/// As CsvRows::cut. `end`: of the last whole line.
std::string why_cut(std::istream& text, std::streamoff end, const std::vector<std::string>& head) {
  constexpr std::streamoff kEnough = 4096;  // for the last line
  text.seekg(0, std::ios::end);
  if (text.tellg() > end) return "cut off: its last line has no end";
  const bool ours = std::any_of(head.begin(), head.end(), [](const std::string& line) {
    return line.starts_with("# configuration:");
  });
  if (!ours) return {};
  std::string tail(static_cast<std::size_t>(std::min(end, kEnough)), '\0');
  text.seekg(end - static_cast<std::streamoff>(tail.size()));
  text.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return tail.find("# finished:") == std::string::npos ? "cut off: the run did not finish it" : "";
}

/// What is above the rows.
struct Head {
  std::vector<std::string> lines;
  std::string columns;
};

Head read_head(std::istream& text, std::streamoff end) {
  Head head;
  std::string line;
  std::streamoff left = end;
  text.seekg(0);
  while (head.columns.empty() && left > 0 && std::getline(text, line)) {
    left -= static_cast<std::streamoff>(line.size()) + 1;
    (line.starts_with('#') ? head.lines.emplace_back() : head.columns) = line;
  }
  text.clear();
  return head;
}

/// Without these a CSV is none of ours, so they are always read.
constexpr std::array<std::string_view, 2> kNeeded{"collective", "size_bytes"};

/// Names for the library, in the order of record_fields. A column that is not wanted has one that
/// no file can have, so that the library passes over its cells.
std::array<std::string, kRecordFieldCount> names_of(std::span<const std::string_view> columns) {
  const auto has = [](std::span<const std::string_view> list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::array<std::string, kRecordFieldCount> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = record_fields()[i].name;
    names.at(i) = columns.empty() || has(columns, name) || has(kNeeded, name) ? name : "\n";
  }
  return names;
}

/// The library's errors as ours.
template <class Action>
auto told_as_ours(const Action& action) {
  try {
    return action();
  } catch (const io::error::header_missing& error) {
    throw usage_error(
        fmt::format("{}: no line names columns: it is empty or was cut off; name another file, or "
                    "remove this one",
                    static_cast<const char*>(error.file_name)));
  } catch (const io::error::base& error) {
    throw usage_error(
        fmt::format("{}; name another file, or remove this one", one_line(error.what())));
  }
}

Text rewound(Text text) {
  text->clear();
  text->seekg(0);
  return text;
}

}  // namespace

struct CsvRows::State {
  State(std::string file, Text text, std::streamoff end)
      : path(std::move(file)),
        head(read_head(*text, end)),
        cut(why_cut(*text, end, head.lines)),
        reader(path, std::make_unique<FirstBytes>(rewound(std::move(text)), end)) {}

  std::string path;
  Head head;
  std::string cut;
  Reader reader;
  Cells cells{};
  std::vector<std::size_t> filled{};  ///< the columns that are wanted and there
};

CsvRows::CsvRows(const std::string& path, std::span<const std::string_view> columns) {
  Text text = open_text(path);
  const std::streamoff end = end_of_lines(*text);
  text->clear();
  told_as_ours([&] {
    state_ = std::make_unique<State>(path, std::move(text), end);
    const auto names = names_of(columns);
    std::apply(
        [&](const auto&... name) {
          state_->reader.read_header(io::ignore_extra_column | io::ignore_missing_column, name...);
        },
        names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (state_->reader.has_column(names.at(i))) state_->filled.push_back(i);
    }
  });
  const auto there = [&](std::string_view name) {
    return state_->reader.has_column(std::string(name));
  };
  if (!std::all_of(kNeeded.begin(), kNeeded.end(), there)) {
    throw usage_error(
        fmt::format("{}: not a CSV of busbar: it has no columns collective and size_bytes", path));
  }
}

CsvRows::~CsvRows() = default;

const std::vector<std::string>& CsvRows::head() const { return state_->head.lines; }
const std::string& CsvRows::columns() const { return state_->head.columns; }
const std::string& CsvRows::cut() const { return state_->cut; }

bool CsvRows::next(Record& record) {
  State& state = *state_;
  const bool found = told_as_ours([&] {
    return std::apply([&](auto&... cell) { return state.reader.read_row(cell...); }, state.cells);
  });
  if (!found) return false;
  for (const std::size_t i : state.filled) {
    const char* cell = state.cells.at(i);
    if (*cell == '\0') continue;
    const RecordField& field = record_fields()[i];
    try {
      field.set(record, cell);
    } catch (const Error& error) {
      throw usage_error(fmt::format("{}:{}: column {}: '{}' is {}", state.path,
                                    state.reader.get_file_line(), field.name, cell, error.what()));
    }
  }
  return true;
}

Facts facts_of(std::span<const std::string> head) {
  Facts facts;
  for (const std::string& line : head) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string_view text = line;
    std::string key{trim(text.substr(1, colon - 1))};
    facts.insert_or_assign(std::move(key), trim(text.substr(colon + 2)));
  }
  return facts;
}

CsvFile read_csv(const std::string& path) {
  CsvRows rows(path);
  CsvFile file{.head = rows.head(), .columns = rows.columns(), .records = {}, .cut = rows.cut()};
  while (rows.next(file.records.emplace_back())) {
  }
  file.records.pop_back();
  return file;
}

}  // namespace busbar
