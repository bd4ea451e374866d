// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"
#include "model/data_type.hpp"
#include "model/nccl_choice.hpp"
#include "study/import/log_reader.hpp"

// What nccl-tests and rccl-tests print, in all of their versions.
namespace busbar::study {
namespace {

bool is_word(View text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

/// The value of a cell, or a refusal.
template <class Value>
Value checked(const std::optional<Value>& value, View column, View word, View what) {
  if (!value) throw usage_error("column {}: '{}' is {}", column, word, what);
  return *value;
}
Printed number_in(View column, View word) {
  return checked(printed_number(word), column, word, "not a number");
}
std::uint64_t count_in(View column, View word) {
  return checked(to_number<std::uint64_t>(word), column, word, "not a whole number");
}
int small_in(View column, View word) {
  return checked(small_number(word), column, word, "not a small number");
}
std::string type_in(View column, View word) {
  const auto type = is_type_name(word) ? std::optional(std::string(word)) : std::nullopt;
  return checked(type, column, word, "no element type");
}
/// The count of a check; N/A if there was none.
std::optional<double> check_in(View column, View word) {
  return word == "N/A" ? std::nullopt : std::optional(number_in(column, word).value);
}

/// A column of nccl-tests, and where its word goes: into the row, or the half that a time began.
struct NcclColumn {
  View name;
  void (*set)(LogRow& row, LogHalf& half, View column, View word);
};

constexpr auto kColumns = std::to_array<NcclColumn>({
    {"size", [](LogRow& row, LogHalf&, View c, View w) { row.size = count_in(c, w); }},
    {"count", [](LogRow& row, LogHalf&, View c, View w) { row.count = count_in(c, w); }},
    {"type", [](LogRow& row, LogHalf&, View c, View w) { row.type = type_in(c, w); }},
    {"redop", [](LogRow& row, LogHalf&, View, View w) { row.op = w; }},
    {"root", [](LogRow& row, LogHalf&, View c, View w) { row.root = small_in(c, w); }},
    {"nodes", [](LogRow& row, LogHalf&, View c, View w) { row.nodes = small_in(c, w); }},
    {"#iters", [](LogRow& row, LogHalf&, View c, View w) { row.operations = count_in(c, w); }},
    {"time", [](LogRow&, LogHalf& half, View c, View w) { half.time_us = number_in(c, w); }},
    {"cputime", [](LogRow&, LogHalf& half, View c, View w) { half.cpu_time_us = number_in(c, w); }},
    {"algbw", [](LogRow&, LogHalf& half, View c, View w) { half.algbw_GBps = number_in(c, w); }},
    {"busbw", [](LogRow&, LogHalf& half, View c, View w) { half.busbw_GBps = number_in(c, w); }},
    {"#wrong", [](LogRow&, LogHalf& half, View c, View w) { half.wrong = check_in(c, w); }},
    {"error", [](LogRow&, LogHalf& half, View c, View w) { half.error = check_in(c, w); }},
    {"i_min", [](LogRow&, LogHalf& half, View c, View w) { half.min_us = number_in(c, w).value; }},
    {"i_max", [](LogRow&, LogHalf& half, View c, View w) { half.max_us = number_in(c, w).value; }},
    {"i_p99", [](LogRow&, LogHalf& half, View c, View w) { half.p99_us = number_in(c, w).value; }},
});

/// Unknown columns are skipped.
void set_cell(LogRow& row, View column, View word) {
  const auto* known = std::ranges::find(kColumns, column, &NcclColumn::name);
  LogHalf before_any;  // columns of a half that stand before its time
  if (known == kColumns.end()) return;
  known->set(row, row.halves.empty() ? before_any : row.halves.back(), column, word);
}

constexpr std::uint64_t kMostPerProcess = 64;

/// Reads line after line; a table begins at what a test prints first and ends with its footer.
class NcclText {
 public:
  NcclText(const std::string& path, const LogReading& reading)
      : reading_(reading), log_{.path = path} {}

  /// A command may go on behind a backslash.
  void read(const LogLine& line) {
    if (line.text.ends_with('\\')) {
      continued_ += line.text.substr(0, line.text.size() - 1) + ' ';
      return;
    }
    if (continued_.empty()) return read_whole(line);
    read_whole({.number = line.number, .text = std::exchange(continued_, "") + line.text});
  }

  LogFile finish() {
    give_up_torn_row();
    for (const LogTable& table : log_.tables) {
      if (table.ended || table.rows.empty()) continue;
      log_.warnings.push_back(
          fmt::format("{}:{}: after the last row there is no \"Avg bus bandwidth\": the log may be "
                      "cut off; what is there is imported",
                      log_.path, table.rows.back().line));
    }
    return std::move(log_);
  }

 private:
  void read_whole(const LogLine& line) {
    if (const std::size_t mark = nccl_mark(line.text); mark != View::npos) {
      return read_library_line(line, mark);
    }
    Words words = split_words(line.text);
    if (!words.empty() && words.front() == "#") words.erase(words.begin());
    if (words.empty() || (!torn_.ways.empty() && close_torn_row(line))) return;
    const bool comment = line.text.starts_with('#');
    const bool begins_row = !comment && to_number<std::uint64_t>(words.front());
    if (begins_row || comment) give_up_torn_row();
    if (const auto columns = columns_of(words)) {
      open_table();
      columns_ = *columns;
      return;
    }
    if (begins_row) return read_row_line(line, words);
    if (!read_footer(line, words)) read_context(line, words);
  }

  LogTable& start_table() {
    columns_.clear();
    return log_.tables.emplace_back(LogTable{.tool = "nccl-tests",
                                             .backend = "nccl",
                                             .settings = std::exchange(logged_, {}),
                                             .aggregation = "mean"});
  }
  LogTable& table() { return log_.tables.empty() ? start_table() : log_.tables.back(); }
  /// The last table, or another where that one has ended. A second one under one head (-N, several
  /// types) belongs to the same test.
  LogTable& open_table() { return table().ended ? start_table() : table(); }
  /// A test begins: what the last one reported is no longer true.
  LogTable& start_test() { return table().rows.empty() ? open_table() : start_table(); }

  /// A line of NCCL's own, and before it perhaps a part of a row.
  void read_library_line(const LogLine& line, std::size_t mark) {
    const View text = line.text;
    if (const auto set = settings_of_library(nccl_message(text))) {
      const bool inside = !log_.tables.empty() && !log_.tables.back().ended;
      (inside ? table().settings : logged_).insert(set->begin(), set->end());
    }
    if (const auto choice = nccl_choice_in(text)) choices_.push_back(*choice);
    if (text.find("CCL version") != View::npos) read_library(split_words(text));
    LogLine part{.number = line.number, .text = part_before(text, mark, hosts_)};
    const Words words = split_words(part.text);
    if (words.empty() || columns_.empty()) return;
    if (!torn_.ways.empty()) {
      if (!close_torn_row(part)) torn_.extend(part.text);
    } else if (to_number<std::uint64_t>(words.front())) {
      torn_ = {.line = part, .ways = {part.text}};
      if (words.size() >= columns_.size()) close_torn_row({});  // whole, but for its line end
    }
  }
  bool close_torn_row(const LogLine& part) {
    const auto row = torn_.close(part.text, columns_);
    if (row) read_row_line(*row, split_words(row->text));
    return row.has_value();
  }
  /// A row, names of columns or a footer behind a torn row: its rest did not come.
  void give_up_torn_row() {
    if (torn_.ways.empty()) return;
    torn_.ways.clear();
    bad_line(log_, torn_.line, "NCCL's own log tears this row, and its rest is not found",
             reading_);
  }

  void read_row_line(const LogLine& line, const Words& words) {
    Words columns = columns_.empty() ? reading_.columns : columns_;
    if (columns.empty()) {
      const bool like_row =
          words.size() > 2 && to_number<std::uint64_t>(words[1]) && is_type_name(words[2]);
      if (!like_row) return;
      const auto by_shape = columns_by_shape(words);
      if (!by_shape) {
        return bad_row(line, words, "a row with neither names of columns above nor a known shape");
      }
      columns = *by_shape;
    }
    try {
      LogRow row = read_row(columns, words);
      row.line = line.number;
      row.choice = choice_for(row.size);
      LogTable& test = open_table();
      if (test.rows.empty()) {
        test.line = line.number;
        test.columns = columns_;
        if (const auto command = command_in(test.command)) {
          test.settings.merge(settings_of_command(*command));
        }
      }
      test.rows.push_back(std::move(row));
    } catch (const Error& error) {
      bad_row(line, words, error.what());
    }
  }
  /// The last choice since the row before, of as many bytes or of a rank's part of them.
  LibraryChoice choice_for(Bytes size) {
    std::vector<NcclChoice> choices = std::exchange(choices_, {});
    std::ranges::reverse(choices);
    for (const bool part : {false, true}) {
      for (const auto& [bytes, choice] : choices) {
        if (part ? bytes > 0 && size % bytes == 0 : bytes == size) return choice;
      }
    }
    return {};
  }
  void bad_row(const LogLine& line, const Words& words, View why) {
    if (!line.whole) {
      log_.warnings.push_back(
          fmt::format("{}:{}: the last line is cut off; it is left out", log_.path, line.number));
      return;
    }
    // Names of hosts and times may begin with a digit; only a row has a size and a count.
    const bool numbers = words.size() > 1 && to_number<std::uint64_t>(words[1]).has_value();
    if (!numbers && words.size() > 1 && columns_.empty()) return;
    bad_line(log_, line, why, reading_);
  }

  bool read_footer(const LogLine& line, const Words& words) {
    const auto has = [&](View part) { return line.text.find(part) != View::npos; };
    const bool has_mean = has("Avg bus bandwidth");
    const bool concludes = has("Collective test concluded:");
    if (!has_mean && !concludes && !has("Out of bounds values")) return false;
    const auto mean = printed_number(word_after(words, ":"));
    if (has_mean && mean) table().mean_busbw_GBps = mean->value;
    if (concludes && table().collective.empty()) {
      table().collective = word_after(words, "concluded:");
    }
    table().ended = true;
    return true;
  }

  void read_context(const LogLine& line, const Words& words) {
    const auto has = [&](View part) { return line.text.find(part) != View::npos; };
    if (words.front() == "nThread" || words.front() == "nThreads") return read_parameters(words);
    if (words.front() == "Rank") return read_device(words);
    if (has("Collective test starting:")) {
      start_test().collective = word_after(words, "starting:");
    } else if (has("-tests version")) {
      start_test();
      read_tool(words, words.front(), "version");
    } else if (words.front() == "rccl-tests:") {  // before 2.17, without a mark
      read_tool(words, "rccl-tests", "Version");
    } else if (has("CCL version")) {
      read_library(words);
    } else {
      read_command(line, words);
    }
  }
  /// "rccl-tests version 2.17.9-develop:4a65e8d rccl-headers=22707 rccl-library=22707".
  void read_tool(const Words& words, View tool, View before_version) {
    LogTable& test = table();
    test.tool = fmt::format("{} {}", tool, word_after(words, before_version));
    if (tool == "rccl-tests") test.backend = "rccl";
    for (const std::string& word : words) {
      constexpr View kRccl = "rccl-library=";
      if (!word.starts_with(kRccl)) continue;
      const int number = to_number<int>(word.substr(kRccl.size())).value_or(0);
      test.library = "RCCL " + nccl_version_text(number);
    }
  }
  /// "NCCL version 2.8.3+cuda11.1", "RCCL version : 2.27.7-develop:29e1567".
  void read_library(const Words& words) {
    auto value = std::ranges::find(words, "version");
    if (value == words.begin() || value == words.end()) return;
    const std::string name = *(value - 1);
    if (++value != words.end() && *value == ":") ++value;
    if (value == words.end()) return;
    LogTable& test = open_table();
    test.library = fmt::format("{} {}", name, *value);
    if (name.starts_with("RCCL")) test.backend = "rccl";
  }
  void read_parameters(const Words& words) {
    LogTable& test = start_test();
    const auto warmup = std::ranges::find(words, "warmup");
    if (words.end() - warmup > 3) {
      test.warmup = to_number<std::uint64_t>(*(warmup + 2));
      test.operations = number_after({warmup + 3, words.end()}, "iters:");
    }
    const std::uint64_t per_process =
        number_after(words, words.front()).value_or(0) * number_after(words, "nGpus").value_or(0);
    if (per_process == 0 || per_process >= kMostPerProcess) return;
    test.gpus_per_process = static_cast<int>(per_process);
    const auto processes = processes_of_command(split_words(test.command));
    if (processes) test.ranks = *processes * static_cast<int>(per_process);
  }
  void read_device(const Words& words) {
    LogTable& test = start_test();
    const std::string host = word_after(words, "on");
    const auto number = small_number(word_after(words, "Rank"));
    if (!number || *number < 0 || host.empty()) return;
    LogDevice device{.rank = *number, .host = host};
    device.group = small_number(word_after(words, "Group")).value_or(0);
    const auto bus =
        std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('['); });
    if (bus != words.end()) device.name = join({bus + 1, words.end()}, " ");
    if (device.name.starts_with("AMD ")) test.backend = "rccl";
    test.devices.push_back(std::move(device));
  }
  /// A line that names an executable, such as "$ mpirun -np 8 ./build/all_reduce_perf -b 8". Prose
  /// that names the collective is not a command.
  void read_command(const LogLine& line, const Words& words) {
    const auto program = std::ranges::find_if(words, names_test);
    if (program == words.end()) return;
    LogTable& test = start_test();
    test.collective = *program;
    if (!command_in(line.text)) return;
    test.command = line.text;
    const std::string how = word_after(words, "-a");
    for (const auto& [digit, name] : {std::pair{"0", "rank0"}, {"2", "min"}, {"3", "max"}}) {
      if (how == digit) test.aggregation = name;
    }
  }

  const LogReading& reading_;
  LogFile log_;
  Words columns_{};
  Settings logged_{};                  ///< by NCCL before a test began
  std::vector<NcclChoice> choices_{};  ///< since the last row
  std::set<std::string> hosts_{};
  TornRow torn_{};
  std::string continued_{};
};

}  // namespace

bool is_type_name(View word) { return size_of_type(word) > 0; }

View our_type(View word) {
  using Names = std::pair<View, View>;
  constexpr std::array<Names, 8> kOthers{{{"char", "int8"},
                                          {"int", "int32"},
                                          {"fp8_e4m3", "f8e4m3"},
                                          {"fp8_e5m2", "f8e5m2"},
                                          {"bf16", "bfloat16"},
                                          {"float16", "half"},
                                          {"fp16", "half"},
                                          {"fp32", "float"}}};
  const auto* known = find_by(kOthers, word, &Names::first);
  return known == nullptr ? word : known->second;
}

Bytes size_of_type(View word) {
  const TypeInfo* known = find_by(kTypes, our_type(word), &TypeInfo::name);
  return known == nullptr ? 0 : known->size;
}

std::optional<Words> columns_of(std::span<const std::string> words) {
  if (!words.empty() && words.front() == "#") words = words.subspan(1);
  Words columns(words.begin(), words.end());
  if (!columns.empty() && columns.front().starts_with('#')) columns.front().erase(0, 1);
  const auto has = [&](View name) { return contains(columns, name); };
  const bool complete = has("size") && has("count") && has("type") && has("algbw") &&
                        has("busbw") && (has("time") || has("cputime"));
  return complete ? std::optional(columns) : std::nullopt;
}

std::optional<Words> columns_by_shape(std::span<const std::string> words) {
  constexpr std::size_t kFewest = 11;
  if (words.size() < kFewest || !is_type_name(words[2])) return std::nullopt;
  const std::size_t op = is_word(words[3]) ? 1 : 0;
  const std::size_t more = words.size() - kFewest;
  if (more < op || more > op + 1) return std::nullopt;
  // A check's column: counts are whole, relative differences have an exponent.
  const char* check = words.back().find('e') == std::string::npos ? "#wrong" : "error";
  const std::string half = fmt::format(" time algbw busbw {}", check);
  return split_words(fmt::format("size count type{}{}{}{}", op == 1 ? " redop" : "",
                                 more > op ? " root" : "", half, half));
}

LogRow read_row(const Words& columns, std::span<const std::string> words) {
  const auto dates = static_cast<std::size_t>(std::ranges::count(columns, "timestamp"));
  const std::size_t expected = columns.size() + dates;  // of two words each
  // Old versions leave the reduction out where there is none, and the column's name stands.
  const auto op = std::ranges::find(columns, "redop");
  const auto place = static_cast<std::size_t>(op - columns.begin());
  const bool no_op = op != columns.end() && words.size() + 1 == expected &&
                     (place >= words.size() || !is_word(words[place]));
  if (words.size() != expected && !no_op) {
    throw usage_error("{} where the line of names has {}", counted(words.size(), "word"), expected);
  }
  LogRow row;
  auto word = words.begin();
  for (const std::string& column : columns) {
    if (no_op && column == "redop") continue;
    if (column == "time" || column == "cputime") {
      row.halves.push_back({.in_place = !row.halves.empty()});
    }
    if (column == "timestamp") {
      row.finished_at = *word++ + ' ';
      row.finished_at += *word++;
    } else {
      set_cell(row, column, *word++);
    }
  }
  return row;
}

LogFile read_nccl_text(std::span<const LogLine> lines, const std::string& path,
                       const LogReading& reading) {
  NcclText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

}  // namespace busbar::study
