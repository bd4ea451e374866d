// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_grid.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

/// The line above a matrix.
struct GridHeading {
  std::size_t line = 0;                 ///< index into the lines
  std::vector<std::string> labels{};    ///< of the columns, as they stand
  std::vector<std::string> headings{};  ///< of the columns behind them: "CPU Affinity"
  std::size_t headings_start = 0;       ///< of the first, on a terminal
};

constexpr std::size_t kMostColumns = 512;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

/// "GPU12" -> 12.
std::optional<int> gpu_index(std::string_view label) {
  if (!label.starts_with("GPU")) return std::nullopt;
  const std::string_view number = label.substr(3);
  if (number.size() > 1 && number.front() == '0') return std::nullopt;
  return whole_number(number);
}

bool starts_with_gpu_number(std::string_view word) {
  return word.size() > 3 && word.starts_with("GPU") && is_digit(word[3]);
}

/// Where a second label begins in a word: after a digit, what only labels begin with. Or npos.
std::size_t second_label(std::string_view word) {
  constexpr std::array<std::string_view, 5> kBeginnings = {"GPU", "NIC", "mlx", "CPU", "NUMA"};
  for (std::size_t at = 1; at < word.size(); ++at) {
    const auto begins = [&](std::string_view label) { return word.substr(at).starts_with(label); };
    if (is_digit(word[at - 1]) && std::any_of(kBeginnings.begin(), kBeginnings.end(), begins)) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// A NIC as the driver or the kernel names it: NIC0, mlx5_0, rocep49s0, bnxt_re0.
bool is_nic_label(std::string_view word) {
  if (word.starts_with("GPU") || second_label(word) != std::string_view::npos) return false;
  if (word.starts_with("NIC")) return whole_number(word.substr(3)).has_value();
  const auto fits = [](char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '-' || letter == '.';
  };
  return is_letter(word.front()) && std::any_of(word.begin(), word.end(), is_digit) &&
         std::all_of(word.begin(), word.end(), fits);
}

bool is_device(std::string_view word) { return gpu_index(word) || is_nic_label(word); }

bool begins_headings(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "GPU";
}

/// "CPU Affinity", "NUMA Affinity", "GPU NUMA ID" from word `first` on; what else is there is a
/// note of somebody's.
std::vector<std::string> read_headings(std::span<const Word> words) {
  const std::array<std::vector<std::string_view>, 3> known = {
      {{"CPU", "Affinity"}, {"NUMA", "Affinity"}, {"GPU", "NUMA", "ID"}}};
  std::vector<std::string> headings;
  while (!words.empty()) {
    const auto stands_here = [&](const std::vector<std::string_view>& heading) {
      return words.size() >= heading.size() &&
             std::equal(heading.begin(), heading.end(), words.begin(),
                        [](std::string_view part, const Word& word) { return word.text == part; });
    };
    const auto* const found = std::find_if(known.begin(), known.end(), stands_here);
    if (found == known.end()) break;
    headings.push_back(fmt::format("{}", fmt::join(*found, " ")));
    words = words.subspan(found->size());
  }
  return headings;
}

class HeadingReader {
 public:
  HeadingReader(const TextLine& line, std::string_view origin, const GridKind& kind)
      : line_(line), origin_(origin), kind_(kind) {}

  [[nodiscard]] GridHeading read() const {
    GridHeading heading;
    std::size_t at = 0;
    for (; at < line_.words.size() && !ends_devices(at); ++at) add(heading.labels, line_.words[at]);
    const auto rest = std::span(line_.words).subspan(at);
    heading.headings = read_headings(rest);
    check_headings(rest, heading.headings);
    if (!rest.empty()) heading.headings_start = display_column(line_, rest.front().begin);
    return heading;
  }

 private:
  [[nodiscard]] Error error(const Word& word, const std::string& what) const {
    return damaged({.origin = origin_, .line = line_.number, .column = word.column}, what,
                   advice(kind_));
  }

  /// Behind the devices come affinities, or a note that begins with a sign.
  [[nodiscard]] bool ends_devices(std::size_t at) const {
    const std::string& word = line_.words[at].text;
    return begins_headings(word) || (!is_letter(word.front()) && !is_digit(word.front()));
  }

  void add(std::vector<std::string>& labels, const Word& word) const {
    if (second_label(word.text) != std::string::npos) {
      throw error(word,
                  fmt::format("labels of columns have run together in {}", in_quotes(word.text)));
    }
    if (!is_device(word.text)) {
      throw error(word, fmt::format("{} is no label of a column", in_quotes(word.text)));
    }
    if (std::find(labels.begin(), labels.end(), word.text) != labels.end()) {
      throw error(word, fmt::format("{} has two columns", word.text));
    }
    if (labels.size() == kMostColumns) {
      throw error(word, fmt::format("more than {} columns", kMostColumns));
    }
    labels.push_back(word.text);
  }

  /// A heading cut short, or devices behind the affinities.
  void check_headings(std::span<const Word> rest, const std::vector<std::string>& found) const {
    if (!rest.empty() && begins_headings(rest.front().text) && found.empty()) {
      throw error(rest.front(), fmt::format("{} is no whole heading: the line is cut short",
                                            in_quotes(rest.front().text)));
    }
    for (const Word& word : rest) {
      if (starts_with_gpu_number(word.text) || second_label(word.text) != std::string::npos) {
        throw error(word, fmt::format("{} stands behind the affinities", in_quotes(word.text)));
      }
    }
  }

  const TextLine& line_;
  std::string_view origin_;
  const GridKind& kind_;
};

/// Whether a cell of this kind of matrix may say so.
bool is_cell(const GridKind& kind, std::string_view word) {
  return (kind.nvlinks && is_nvlink_label(word)) ||
         std::find(kind.cells.begin(), kind.cells.end(), word) != kind.cells.end();
}

/// "PXB and NODE" of "PXBNODE"; empty for what is no row of labels without blanks.
std::string run_together_cells(const GridKind& kind, std::string_view word) {
  // Front to back, the longest label first: no label of either matrix begins with another one and
  // goes on with a third.
  constexpr std::size_t kLongestLabel = 5;
  std::vector<std::string_view> parts;
  while (!word.empty()) {
    std::size_t length = std::min(word.size(), kLongestLabel);
    while (length > 0 && !is_cell(kind, word.substr(0, length))) --length;
    if (length == 0) return {};
    parts.push_back(word.substr(0, length));
    word.remove_prefix(length);
  }
  return parts.size() < 2 ? std::string{} : fmt::format("{}", fmt::join(parts, " and "));
}

/// Whether a line is a matrix's row: a device and then a cell, be it run together with the next.
bool is_row_like(const GridKind& kind, const TextLine& line) {
  if (line.words.size() < 2) return false;
  const std::string& second = line.words[1].text;
  return is_cell(kind, second) || !run_together_cells(kind, second).empty();
}

/// Whether a line is the heading of a matrix, sound or not.
bool is_heading_like(const TextLine& line) {
  if (line.words.empty()) return false;
  const std::string& first = line.words.front().text;
  const bool run_together = starts_with_gpu_number(first) && second_label(first) < first.size();
  const bool gpu = gpu_index(first).has_value();
  if (line.words.size() == 1) return gpu || run_together;
  const bool device = gpu || first.starts_with("NIC") || first.starts_with("mlx");
  if (!device && !run_together) return false;
  const std::string& second = line.words[1].text;
  if (is_nvlink_label(second)) return false;
  const bool more = begins_headings(second) || starts_with_gpu_number(second) ||
                    is_device(second) || second_label(second) < second.size();
  return more && std::any_of(line.words.begin(), line.words.end(),
                             [](const Word& word) { return starts_with_gpu_number(word.text); });
}

/// The first heading. Throws Error (Usage) where there is none, a row stands before it, or labels
/// have run together.
GridHeading read_heading(std::span<const TextLine> lines, std::string_view origin,
                         const GridKind& kind) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const TextLine& line = lines[at];
    if (is_heading_like(line)) {
      GridHeading heading = HeadingReader(line, origin, kind).read();
      heading.line = at;
      return heading;
    }
    if (is_row_like(kind, line) && starts_with_gpu_number(line.words.front().text)) {
      throw damaged({.origin = origin, .line = line.number, .column = line.words.front().column},
                    fmt::format("a row of {} without the line of column labels above it",
                                in_quotes(line.words.front().text)),
                    advice(kind));
    }
  }
  throw damaged({.origin = origin},
                fmt::format("no matrix of `{}`: no line of labels GPU0, GPU1, ...", kind.command),
                advice(kind));
}

struct Row {
  std::size_t line = 0;  ///< index into the lines
  std::span<const Word> cells{};
};

/// "NIC2" before "NIC10", "mlx4_1" before "mlx5_0": runs of digits by their value.
bool natural_less(std::string_view one, std::string_view other) {
  const auto run_of = [](std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
  };
  while (!one.empty() && !other.empty()) {
    const std::size_t run = run_of(one);
    const std::size_t other_run = run_of(other);
    const bool numbers = run > 0 && other_run > 0;
    const std::size_t length = numbers ? run : 1;
    const std::size_t other_length = numbers ? other_run : 1;
    const auto part = one.substr(0, length);
    const auto other_part = other.substr(0, other_length);
    if (length != other_length) return length < other_length;
    if (part != other_part) return part < other_part;
    one.remove_prefix(length);
    other.remove_prefix(other_length);
  }
  return one.size() < other.size();
}

bool before(const std::string& one, const std::string& other) {
  const auto gpu = gpu_index(one);
  const auto other_gpu = gpu_index(other);
  if (gpu && other_gpu) return *gpu < *other_gpu;
  if (gpu || other_gpu) return gpu.has_value();
  return natural_less(one, other);
}

/// Old drivers' word for what is SYS since.
std::string today(const std::string& cell) { return cell == "SOC" ? "SYS" : cell; }

class GridReader {
 public:
  GridReader(std::span<const TextLine> lines, std::string_view origin, const GridKind& kind)
      : lines_(lines),
        origin_(origin),
        kind_(kind),
        heading_(read_heading(lines, origin, kind)),
        rows_(heading_.labels.size()) {}

  [[nodiscard]] Grid read() {
    read_rows();
    check_rows_of_gpus();
    for (std::size_t row = 0; row < rows_.size(); ++row) check_row(row);
    return arrange();
  }

 private:
  [[nodiscard]] Error error(const TextLine& line, std::size_t column,
                            const std::string& what) const {
    return damaged({.origin = origin_, .line = line.number, .column = column}, what, advice(kind_));
  }

  [[nodiscard]] std::size_t width() const { return heading_.labels.size(); }

  void read_rows() {
    end_ = heading_.line + 1;
    next_ = lines_.size();
    bool in_rows = true;
    for (std::size_t at = heading_.line + 1; at < lines_.size(); ++at) {
      const TextLine& line = lines_[at];
      if (line.empty()) continue;
      if (is_heading_like(line)) {
        next_ = at;
        return;
      }
      in_rows = in_rows && !line.words.front().text.starts_with("Legend");
      if (in_rows && read_row(at)) end_ = at + 1;
    }
  }

  /// False for a line that is no row: words of somebody's.
  bool read_row(std::size_t at) {
    const TextLine& line = lines_[at];
    const Word& label = line.words.front();
    const auto column = std::find(heading_.labels.begin(), heading_.labels.end(), label.text);
    if (column == heading_.labels.end()) {
      if (!is_row_without_column(line)) return false;
      throw error(line, label.column,
                  fmt::format("{} has a row but no column", in_quotes(label.text)));
    }
    auto& row = rows_[static_cast<std::size_t>(column - heading_.labels.begin())];
    if (row) {
      if (!is_row_like(kind_, line)) return false;
      throw error(line, label.column, fmt::format("{} has two rows", label.text));
    }
    row = Row{.line = at, .cells = cells_of(line)};
    return true;
  }

  /// A device of no column, or a whole row below a damaged label.
  [[nodiscard]] bool is_row_without_column(const TextLine& line) const {
    const std::string& label = line.words.front().text;
    if (gpu_index(label) || label.starts_with("NIC") || label.starts_with("mlx")) {
      return is_row_like(kind_, line);
    }
    const auto words = std::span(line.words).subspan(1);
    return words.size() >= width() &&
           std::all_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(width()),
                       [&](const Word& word) { return is_cell(kind_, word.text); });
  }

  [[nodiscard]] std::span<const Word> cells_of(const TextLine& line) const {
    const std::string& label = line.words.front().text;
    const auto words = std::span(line.words).subspan(1);
    for (const Word& word : words.first(std::min(width(), words.size()))) check_cell(line, word);
    if (words.size() < width()) {
      throw error(
          line, line.columns.back() + 1,
          fmt::format("the row of {} has {} cells for {} columns", label, words.size(), width()));
    }
    if (words.size() > width() && is_row_like_cell(words[width()].text)) {
      throw error(line, words[width()].column,
                  fmt::format("the row of {} has more cells than the {} columns", label, width()));
    }
    return words.first(width());
  }

  [[nodiscard]] bool is_row_like_cell(const std::string& word) const {
    return is_cell(kind_, word) || !run_together_cells(kind_, word).empty();
  }

  void check_cell(const TextLine& line, const Word& word) const {
    if (is_cell(kind_, word.text)) return;
    const std::string& label = line.words.front().text;
    const std::string parts = run_together_cells(kind_, word.text);
    throw error(line, word.column,
                parts.empty() ? fmt::format("{} in the row of {} is no cell of this matrix",
                                            in_quotes(word.text), label)
                              : fmt::format("cells have run together in the row of {}: {}", label,
                                            one_of_many(parts)));
  }

  [[nodiscard]] static std::string one_of_many(const std::string& parts) {
    constexpr std::size_t kLongest = 60;
    return parts.size() <= kLongest ? parts : parts.substr(0, kLongest) + "...";
  }

  void check_rows_of_gpus() const {
    std::vector<std::string> missing;
    std::size_t gpus = 0;
    for (std::size_t at = 0; at < width(); ++at) {
      if (!gpu_index(heading_.labels[at])) continue;
      ++gpus;
      if (!rows_[at]) missing.push_back(heading_.labels[at]);
    }
    if (missing.empty()) return;
    const TextLine& line = lines_[end_ - 1];
    const std::size_t column = line.columns.empty() ? 1 : line.columns.back() + 1;
    throw error(line, column,
                fmt::format("{} of {} GPUs have a row: {} {} missing, the text is cut short",
                            gpus - missing.size(), gpus, join(missing, ", "),
                            missing.size() == 1 ? "is" : "are"));
  }

  /// The diagonal, and each cell against that of the other direction where that came earlier.
  void check_row(std::size_t row) const {
    if (!rows_[row]) return;
    const TextLine& line = lines_[rows_[row]->line];
    const std::string& label = heading_.labels[row];
    for (std::size_t column = 0; column < width(); ++column) {
      const Word& cell = rows_[row]->cells[column];
      const std::string& other = heading_.labels[column];
      if ((cell.text == "X") != (row == column)) {
        throw error(line, cell.column,
                    row == column
                        ? fmt::format("{} to itself is {} and not X", label, in_quotes(cell.text))
                        : fmt::format("{} to {} is X, which is for a device itself", label, other));
      }
      if (!rows_[column] || rows_[column]->line > rows_[row]->line) continue;
      const std::string& back = rows_[column]->cells[row].text;
      if (today(back) != today(cell.text)) {
        throw error(line, cell.column,
                    fmt::format("{} to {} is {}, but {} to {} is {} in line {}", label, other,
                                cell.text, other, label, back, lines_[rows_[column]->line].number));
      }
    }
  }

  [[nodiscard]] Grid arrange() const {
    std::vector<std::size_t> order(width());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
      return before(heading_.labels[one], heading_.labels[other]);
    });
    Grid grid{.headings = heading_.headings,
              .headings_start = heading_.headings_start,
              .end = end_,
              .next = next_};
    for (const std::size_t row : order) {
      const std::string& label = heading_.labels[row];
      grid.labels.push_back(label);
      if (!rows_[row]) grid.absent_rows.push_back(label);
      if (const auto gpu = gpu_index(label)) {
        grid.gpus.push_back(*gpu);
        grid.tails.push_back(tail_of(*rows_[row]));
      }
      std::vector<std::string>& cells = grid.cells.emplace_back();
      for (const std::size_t column : order) cells.push_back(cell_of(row, column));
    }
    return grid;
  }

  [[nodiscard]] std::string cell_of(std::size_t row, std::size_t column) const {
    if (row == column) return "X";
    if (rows_[row]) return today(rows_[row]->cells[column].text);
    return rows_[column] ? today(rows_[column]->cells[row].text) : std::string{};
  }

  [[nodiscard]] GridTail tail_of(const Row& row) const {
    const TextLine& line = lines_[row.line];
    const std::size_t start = row.cells.back().end();
    GridTail tail{
        .text = line.text.substr(start),
        .line = line.number,
        .words = {line.words.begin() + 1 + static_cast<std::ptrdiff_t>(width()), line.words.end()}};
    const std::size_t blank = tail.text.find_first_not_of(" \t");
    if (blank != std::string::npos) tail.start = display_column(line, start + blank);
    return tail;
  }

  std::span<const TextLine> lines_;
  std::string_view origin_;
  GridKind kind_;
  GridHeading heading_;
  std::vector<std::optional<Row>> rows_;  ///< in the order of the columns
  std::size_t end_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Grid read_grid(std::span<const TextLine> lines, std::string_view origin, const GridKind& kind) {
  return GridReader(lines, origin, kind).read();
}

bool is_nvlink_label(std::string_view word) {
  if (!word.starts_with("NV") || word.size() > 5 || word.substr(2).starts_with('0')) return false;
  return whole_number(word.substr(2)).has_value();
}

std::string advice(const GridKind& kind) {
  return fmt::format("save all of the output again: {} > FILE", kind.command);
}

}  // namespace busbar::topo
