// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_grid.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

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

}  // namespace busbar::topo
