// SPDX-License-Identifier: BSD-3-Clause
// Tables have a title ("WEIGHT TABLE:", "=== Weight between two GPUs ==="), a line with the GPUs as
// columns, and a row for each of them.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/graph/graph.hpp"
#include "topo/probes/amd_tables.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

bool is_title(const TextLine& line) {
  return line.text.starts_with("==") || lower(line.text).ends_with("table:");
}

struct Title {
  std::string_view word;
  AmdTable table;
};
constexpr std::array<Title, 6> kTitles{{{"weight", AmdTable::Weight},
                                        {"hops", AmdTable::Hops},
                                        {"link type", AmdTable::Type},
                                        {"access", AmdTable::Access},
                                        {"numa bw", AmdTable::Bandwidth},
                                        {"bandwidth", AmdTable::Bandwidth}}};

/// Nothing for a title of something else.
std::optional<Title> title_of(const TextLine& line) {
  const std::string text = lower(line.text);
  for (const Title& title : kTitles) {
    if (text.find(title.word) != std::string::npos) return title;
  }
  return std::nullopt;
}

/// "GPU0", or a PCI address.
bool is_gpu(const Word& word) {
  if (!normal_bus_id(word.text).empty()) return true;
  return word.text.starts_with("GPU") && whole_number(word.text.substr(3));
}

class TableReader {
 public:
  explicit TableReader(std::string_view origin) : origin_(origin) {}

  [[nodiscard]] AmdTables read(const std::vector<TextLine>& lines) {
    for (const TextLine& line : lines) {
      line_ = line.number;
      if (line.empty()) continue;
      if (is_title(line)) {
        close();
        title_ = title_of(line);
        line_of_title_ = line.text;
      } else if (line.text.find("(Topology) Numa Node:") != std::string::npos) {
        read_numa(line);
      } else if (title_) {
        read_line(line.words);
      }
    }
    close();
    const auto unknown = std::ranges::find(tables_.numa, "");
    if (!tables_.numa.empty() && unknown != tables_.numa.end()) {
      fail("no NUMA node of GPU {}: cut short", unknown - tables_.numa.begin());
    }
    return std::move(tables_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args) const {
    throw amd_fault(fmt::format("{}:{}", origin_, line_),
                    fmt::format(what, std::forward<Args>(args)...));
  }

  void read_line(const std::vector<Word>& words) {
    if (std::ranges::all_of(words, is_gpu)) {
      read_columns(words);
    } else if (is_gpu(words.front())) {
      read_row(words);
    }
  }

  void read_columns(const std::vector<Word>& words) {
    std::vector<std::string> gpus = mapped(words, &Word::text);
    if (!tables_.gpus.empty() && tables_.gpus != gpus) {
      fail("the GPUs of this table are not those of the first");
    }
    tables_.gpus = std::move(gpus);
    has_columns_ = true;
  }

  void read_row(const std::vector<Word>& words) {
    if (!has_columns_) fail("a row without a line of GPUs above it");
    auto& rows = tables_.tables[title_->table];
    if (rows.size() == tables_.gpus.size() || tables_.gpus[rows.size()] != words.front().text) {
      fail("{} is not the next GPU", in_quotes(words.front().text));
    }
    if (words.size() != tables_.gpus.size() + 1) {
      fail("{} of {} cells: cut short", words.size() - 1, tables_.gpus.size());
    }
    auto& row = rows.emplace_back();
    for (std::size_t k = 1; k < words.size(); ++k) row.push_back(words[k].text);
  }

  /// The end of a table: are all its rows there? rocm-smi has titles of lists, too.
  void close() {
    const bool is_list = !has_columns_ && line_of_title_.starts_with("==");
    const auto found = title_ ? tables_.tables.find(title_->table) : tables_.tables.end();
    const std::size_t rows = found == tables_.tables.end() ? 0 : found->second.size();
    if (title_ && !is_list && (rows == 0 || rows < tables_.gpus.size())) {
      fail("the table of {} has {} of {} rows: cut short", title_->word, rows, tables_.gpus.size());
    }
    title_.reset();
    has_columns_ = false;
  }

  /// "GPU[0]		: (Topology) Numa Node: 0", "GPU 0          : ...".
  void read_numa(const TextLine& line) {
    const std::size_t begin = std::min(line.text.find_first_of("0123456789"), line.text.size());
    const std::size_t end = line.text.find_first_not_of("0123456789", begin);
    const auto gpu = find(tables_.gpus.begin(), tables_.gpus.end(),
                          "GPU" + line.text.substr(begin, end - begin));
    if (gpu == tables_.gpus.end()) fail("a NUMA node of a GPU that is in no table");
    tables_.numa.resize(tables_.gpus.size());
    tables_.numa[static_cast<std::size_t>(gpu - tables_.gpus.begin())] = line.words.back().text;
  }

  std::string_view origin_;
  std::size_t line_ = 1;
  std::optional<Title> title_{};
  std::string line_of_title_{};
  bool has_columns_ = false;
  AmdTables tables_{};
};

/// Lines with this indentation or less are not of the section.
struct AmdSection {
  std::string name{};
  std::size_t indent = 0;

  [[nodiscard]] std::string path(const std::string& field, std::size_t of_field) const {
    return name.empty() || of_field <= indent ? field : fmt::format("{}.{}", name, field);
  }
};

}  // namespace

AmdTables parse_amd_text_tables(std::string_view text, std::string_view origin) {
  return TableReader(origin).read(clean_lines(text));
}

std::vector<AmdFields> parse_amd_text_fields(std::string_view text, std::string_view origin) {
  // Sections are known by their indentation: 0 of a GPU, then one or two levels of names.
  std::vector<AmdFields> gpus;
  bool in_gpu = false;  // not in a CPU's part
  AmdSection section;
  for (const TextLine& line : clean_lines(text)) {
    const std::size_t colon = line.text.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = lower(line.text.substr(0, colon));
    const std::string value(trim(line.text.substr(colon + 1)));
    if (line.indent == 0) {
      in_gpu = name == "gpu";
      section = {};
      if (in_gpu) gpus.push_back({{name, value}});
    } else if (in_gpu && value.empty()) {
      section = {.name = name, .indent = line.indent};
    } else if (in_gpu) {
      gpus.back().emplace_back(section.path(name, line.indent), value);
    }
  }
  if (gpus.empty()) throw amd_fault(origin, "no line `GPU: 0`");
  return gpus;
}

}  // namespace busbar::topo
