// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_matrix.hpp"

#include <cctype>
#include <numeric>

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

/// Which matrix of nvidia-smi is looked for.
struct GridKind {
  std::string_view command{};                 ///< "nvidia-smi topo -m", for messages
  std::span<const std::string_view> cells{};  ///< labels of cells, without NV#
  bool nvlinks = false;                       ///< whether NV# is a label of cells
};

/// A matrix of labels as nvidia-smi prints several, checked: every GPU has its row, X is on the
/// diagonal and nowhere else, and the two cells of a pair agree.
struct Grid {
  std::vector<std::string> labels{};  ///< GPUs by index, then the others by name and number
  std::vector<int> gpus{};            ///< indices of the GPUs among the labels, rising
  std::vector<std::vector<std::string>> cells{};  ///< empty where both rows of a pair are missing
  std::vector<std::string> absent_rows{};         ///< labels without a row; never a GPU's
  std::vector<std::string> headings{};            ///< "CPU Affinity", "NUMA Affinity", ...
  std::vector<std::vector<std::string>> tails{};  ///< [GPU][heading]; empty texts where it has none
  std::span<const TextLine> legend{};             ///< of `lines`: up to the next matrix
};

using WordSpan = std::span<const Word>;

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

/// Whether a second label begins in a word: after a digit, what only labels begin with.
bool is_run_together(std::string_view word) {
  constexpr std::array<std::string_view, 5> kBeginnings = {"GPU", "NIC", "mlx", "CPU", "NUMA"};
  for (std::size_t at = 1; at < word.size(); ++at) {
    const auto begins = [&](std::string_view label) { return word.substr(at).starts_with(label); };
    if (is_digit(word[at - 1]) && std::ranges::any_of(kBeginnings, begins)) {
      return true;
    }
  }
  return false;
}

/// A GPU, or a NIC as the driver or the kernel names it: NIC0, mlx5_0, rocep49s0, bnxt_re0.
bool is_device(std::string_view word) {
  if (word.starts_with("GPU")) return gpu_index(word).has_value();
  if (word.starts_with("NIC")) return whole_number(word.substr(3)).has_value();
  const auto fits = [](char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '-' || letter == '.';
  };
  return is_letter(word.front()) && !is_run_together(word) && std::ranges::any_of(word, is_digit) &&
         std::ranges::all_of(word, fits);
}

bool begins_headings(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "GPU";
}

bool is_affinity(std::string_view text) {
  return text == "N/A" ||
         (!text.empty() && text.find_first_not_of("0123456789,-") == std::string_view::npos);
}

/// "CPU Affinity", "NUMA Affinity", "GPU NUMA ID" from the first word on; what else is there is a
/// note of somebody's.
std::vector<std::string> read_headings(WordSpan words) {
  constexpr std::array<std::string_view, 3> kKnown{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};
  std::vector<std::string> headings;
  std::string text;
  for (const Word& word : words) {
    text += (text.empty() ? "" : " ") + word.text;
    if (std::ranges::find(kKnown, text) == kKnown.end()) continue;
    headings.push_back(std::exchange(text, {}));
  }
  return headings;
}

/// Whether a cell of this kind of matrix may say so.
bool is_cell(const GridKind& kind, std::string_view word) {
  return (kind.nvlinks && gpu_link_count(word) > 0) ||
         std::ranges::find(kind.cells, word) != kind.cells.end();
}

/// How many cells a word is, which copying may have run together; 0 of what is none.
std::size_t cells_in(const GridKind& kind, std::string_view word) {
  // Front to back, the longest label first: no label of either matrix begins with another one and
  // goes on with a third.
  constexpr std::size_t kLongestLabel = 5;
  std::size_t count = 0;
  for (; !word.empty(); ++count) {
    std::size_t length = std::min(word.size(), kLongestLabel);
    while (length > 0 && !is_cell(kind, word.substr(0, length))) --length;
    if (length == 0) return 0;
    word.remove_prefix(length);
  }
  return count;
}

/// Whether a line is a matrix's row: a device and then a cell.
bool is_row_like(const GridKind& kind, const TextLine& line) {
  return line.words.size() > 1 && cells_in(kind, line.words[1].text) > 0;
}

/// Whether a line is the heading of a matrix, sound or not.
bool is_heading_like(const TextLine& line) {
  if (line.words.empty()) return false;
  const std::string& first = line.words.front().text;
  const bool device = gpu_index(first) || (starts_with_gpu_number(first) && is_run_together(first));
  if (line.words.size() == 1) return device;
  if (!device && !first.starts_with("NIC") && !first.starts_with("mlx")) return false;
  const std::string& second = line.words[1].text;
  if (gpu_link_count(second) > 0) return false;
  return (begins_headings(second) || starts_with_gpu_number(second) || is_device(second) ||
          is_run_together(second)) &&
         std::ranges::any_of(line.words,
                             [](const Word& word) { return starts_with_gpu_number(word.text); });
}

/// Orders GPUs before all else and numbers by their value: "NIC2" before "NIC10".
std::string sort_key(std::string_view label) {
  std::string key = gpu_index(label) ? "0" : "1";
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t end = std::min(label.find_first_not_of("0123456789", at), label.size());
    key += end > at ? fmt::format("{:0>9}", label.substr(at, end - at)) : std::string(1, label[at]);
    at = std::max(end, at + 1);
  }
  return key;
}

/// Old drivers' word for what is SYS since.
std::string today(const std::string& cell) { return cell == "SOC" ? "SYS" : cell; }

/// Reads the first matrix. Throws Error (Usage) with line and column.
class GridReader {
 public:
  GridReader(std::span<const TextLine> lines, std::string_view origin, const GridKind& kind)
      : lines_(lines), from_{.name = origin, .command = kind.command}, kind_(kind) {}

  [[nodiscard]] Grid read() {
    const std::size_t heading = find_heading();
    read_heading(lines_[heading]);
    rows_.resize(width());
    read_rows(heading + 1);
    for (std::size_t row = 0; row < width(); ++row) check_row(row);
    arrange();
    return std::move(grid_);
  }

 private:
  [[nodiscard]] std::size_t width() const { return labels_.size(); }

  /// Throws where there is no heading, or a row stands before it.
  [[nodiscard]] std::size_t find_heading() const {
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const TextLine& line = lines_[at];
      if (is_heading_like(line)) return at;
      if (!is_row_like(kind_, line) || !starts_with_gpu_number(line.words.front().text)) continue;
      throw from_.fault(line.words.front(),
                        "a row of {} without the line of column labels above it",
                        in_quotes(line.words.front().text));
    }
    throw from_.fault(Word{}, "not a matrix of `{}`: no line of labels GPU0, GPU1, ...",
                      kind_.command);
  }

  /// Devices, and behind them affinities or a note that begins with a sign.
  void read_heading(const TextLine& line) {
    std::size_t at = 0;
    for (; at < line.words.size(); ++at) {
      const std::string& word = line.words[at].text;
      if (begins_headings(word) || (!is_letter(word.front()) && !is_digit(word.front()))) break;
      add_label(line.words[at]);
    }
    const WordSpan rest = WordSpan(line.words).subspan(at);
    if (rest.empty()) return;
    grid_.headings = read_headings(rest);
    headings_start_ = display_column(line, rest.front().begin);
    const std::string& first = rest.front().text;
    if (begins_headings(first) && grid_.headings.empty()) {
      throw from_.fault(rest.front(), "{} is not a whole heading: the line is cut short",
                        in_quotes(first));
    }
    for (const Word& word : rest) {
      if (!starts_with_gpu_number(word.text) && !is_run_together(word.text)) continue;
      throw from_.fault(word, "{} stands behind the affinities", in_quotes(word.text));
    }
  }

  void add_label(const Word& word) {
    constexpr std::size_t kMostColumns = 512;
    const auto fault = [&](std::string_view what) {
      return from_.fault(word, "{} {}", in_quotes(word.text), what);
    };
    if (is_run_together(word.text)) throw fault("is several column labels run together");
    if (!is_device(word.text)) throw fault("is not a column label");
    if (std::ranges::find(labels_, word.text) != labels_.end()) {
      throw fault("has two columns");
    }
    if (width() == kMostColumns) throw fault("is one column too many; at most 512 are read");
    labels_.push_back(word.text);
  }

  /// The rows down to a legend or the next matrix, and then the legend.
  void read_rows(std::size_t first) {
    std::size_t end = first;  // behind the last row
    std::size_t next = first;
    bool in_rows = true;
    for (; next < lines_.size() && !is_heading_like(lines_[next]); ++next) {
      const TextLine& line = lines_[next];
      if (line.empty()) continue;
      in_rows = in_rows && !line.words.front().text.starts_with("Legend");
      if (in_rows && read_row(line)) end = next + 1;
    }
    grid_.legend = lines_.subspan(end, next - end);
    check_rows_of_gpus(lines_[end - 1]);
  }

  /// False for a line that is not a row, such as a user's note.
  bool read_row(const TextLine& line) {
    const Word& label = line.words.front();
    const auto column = std::ranges::find(labels_, label.text);
    const bool known = column != labels_.end();
    if (!known && !is_row_without_column(line)) return false;
    if (!known) {
      throw from_.fault(label, "{} has a row but no column", in_quotes(label.text));
    }
    const TextLine*& row = rows_[static_cast<std::size_t>(column - labels_.begin())];
    if (row != nullptr && !is_row_like(kind_, line)) return false;
    if (row != nullptr) {
      throw from_.fault(label, "{} has two rows", label.text);
    }
    check_cells(line);
    row = &line;
    return true;
  }

  /// A device of no column, or a whole row below a damaged label.
  [[nodiscard]] bool is_row_without_column(const TextLine& line) const {
    const std::string& label = line.words.front().text;
    if (gpu_index(label) || label.starts_with("NIC") || label.starts_with("mlx")) {
      return is_row_like(kind_, line);
    }
    const WordSpan words = WordSpan(line.words).subspan(1);
    return words.size() >= width() &&
           std::all_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(width()),
                       [&](const Word& word) { return is_cell(kind_, word.text); });
  }

  void check_cells(const TextLine& line) const {
    const std::string& label = line.words.front().text;
    const WordSpan words = WordSpan(line.words).subspan(1);
    for (const Word& word : words.first(std::min(width(), words.size()))) {
      const std::size_t cells = cells_in(kind_, word.text);
      if (cells == 1) continue;
      throw from_.fault(word, "{} in the row of {} is {}", in_quotes(word.text), label,
                        cells == 0 ? "not a cell of this matrix" : "several cells run together");
    }
    if (words.size() < width()) {
      throw from_.fault(line.end(), "the row of {} has {} cells for {} columns", label,
                        words.size(), width());
    }
    if (words.size() > width() && cells_in(kind_, words[width()].text) > 0) {
      throw from_.fault(words[width()], "the row of {} has more cells than the {} columns", label,
                        width());
    }
  }

  void check_rows_of_gpus(const TextLine& last) const {
    std::vector<std::string> missing;
    std::size_t gpus = 0;
    for (std::size_t at = 0; at < width(); ++at) {
      if (!gpu_index(labels_[at])) continue;
      ++gpus;
      if (rows_[at] == nullptr) missing.push_back(labels_[at]);
    }
    if (missing.empty()) return;
    throw from_.fault(last.end(), "{} of {} GPUs have a row: {} {} missing, the text is cut short",
                      gpus - missing.size(), gpus, join(missing, ", "),
                      missing.size() == 1 ? "is" : "are");
  }

  [[nodiscard]] const Word& cell(std::size_t row, std::size_t column) const {
    return rows_[row]->words[column + 1];
  }

  /// The diagonal, and each cell against that of the other direction where that came earlier.
  void check_row(std::size_t row) const {
    if (rows_[row] == nullptr) return;
    const TextLine& line = *rows_[row];
    const std::string& label = labels_[row];
    for (std::size_t column = 0; column < width(); ++column) {
      const Word& here = cell(row, column);
      const std::string& other = labels_[column];
      if ((here.text == "X") != (row == column)) {
        if (row != column) {
          throw from_.fault(here, "{} to {} is X, which is for a device itself", label, other);
        }
        throw from_.fault(here, "{} to itself is {} and not X", label, in_quotes(here.text));
      }
      if (rows_[column] == nullptr || rows_[column]->number > line.number) continue;
      const std::string& back = cell(column, row).text;
      if (today(back) == today(here.text)) continue;
      throw from_.fault(here, "{} to {} is {}, but {} to {} is {} in line {}", label, other,
                        here.text, other, label, back, rows_[column]->number);
    }
  }

  void arrange() {
    std::vector<std::size_t> order(width());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [&](std::size_t one, std::size_t other) {
      return sort_key(labels_[one]) < sort_key(labels_[other]);
    });
    for (const std::size_t row : order) {
      const std::string& label = labels_[row];
      grid_.labels.push_back(label);
      if (rows_[row] == nullptr) grid_.absent_rows.push_back(label);
      if (const auto gpu = gpu_index(label)) {
        grid_.gpus.push_back(*gpu);
        grid_.tails.push_back(read_tail(*rows_[row]));
      }
      std::vector<std::string>& cells = grid_.cells.emplace_back();
      for (const std::size_t column : order) cells.push_back(text_of_cell(row, column));
    }
  }

  [[nodiscard]] std::string text_of_cell(std::size_t row, std::size_t column) const {
    if (row == column) return "X";
    if (rows_[row] != nullptr) return today(cell(row, column).text);
    return rows_[column] != nullptr ? today(cell(column, row).text) : std::string{};
  }

  /// What stands before the first tab belongs to the last cell; further empty fields pad.
  [[nodiscard]] static std::vector<std::string> tabbed_fields(std::string_view tail) {
    const std::vector<std::string> parts = split(tail, '\t');
    std::vector<std::string> fields;
    for (std::size_t at = 1; at < parts.size(); ++at) {
      const std::string_view field = trim(parts[at]);
      if (!field.empty() && !is_affinity(field)) break;
      if (at == 1 || !field.empty()) fields.emplace_back(field);
    }
    return fields;
  }

  /// A row's affinities, one for each heading.
  [[nodiscard]] std::vector<std::string> read_tail(const TextLine& line) const {
    constexpr std::size_t kHalfTab = 4;
    const std::size_t count = grid_.headings.size();
    const WordSpan words = WordSpan(line.words).subspan(width() + 1);
    check_tail(words.first(std::min(words.size(), count)));
    const std::string_view tail = std::string_view{line.text}.substr(line.words[width()].end());
    std::vector<std::string> fields;
    if (tail.find('\t') != std::string_view::npos) {
      fields = tabbed_fields(tail);
    } else {
      for (std::size_t at = 0; at < words.size() && is_affinity(words[at].text); ++at) {
        fields.push_back(words[at].text);
      }
      // Tabs have become blanks: an empty first field shows only by the place of the next.
      if (count > 1 && !fields.empty() && fields.size() < count &&
          display_column(line, words.front().begin) > headings_start_ + kHalfTab) {
        fields.insert(fields.begin(), std::string{});
      }
    }
    fields.resize(count);
    return fields;
  }

  /// Throws where an affinity should stand and the text only starts like a number.
  void check_tail(WordSpan words) const {
    for (const Word& word : words) {
      if (is_affinity(word.text)) continue;
      if (!is_digit(word.text.front())) return;
      throw from_.fault(word, "{} is not a list of processors or nodes", in_quotes(word.text));
    }
  }

  std::span<const TextLine> lines_;
  SmiOrigin from_;
  const GridKind& kind_;
  std::vector<std::string> labels_{};    ///< of the columns, as they stand
  std::vector<const TextLine*> rows_{};  ///< of the labels; null where there is none
  std::size_t headings_start_ = 0;       ///< of the first, on a terminal
  Grid grid_{};
};

constexpr std::array<std::string_view, 8> kCells = {"X",   "PSB",  "PIX", "PXB",
                                                    "PHB", "NODE", "SYS", "SOC"};
constexpr GridKind kKind{.command = "nvidia-smi topo -m", .cells = kCells, .nvlinks = true};

/// What stands under a heading in each GPU's row; empty where the driver has no such column.
std::vector<std::string> texts_under(const Grid& grid, std::string_view heading) {
  const auto found = std::ranges::find(grid.headings, heading);
  const auto column = static_cast<std::size_t>(found - grid.headings.begin());
  std::vector<std::string> texts(grid.tails.size());
  for (std::size_t gpu = 0; found != grid.headings.end() && gpu < texts.size(); ++gpu) {
    texts[gpu] = grid.tails[gpu][column];
  }
  return texts;
}

/// "NIC0: mlx5_0", with or without its heading.
void add_nic_names(SmiMatrix& matrix, std::span<const TextLine> legend) {
  for (const TextLine& line : legend) {
    if (line.words.size() < 2 || !line.words.front().text.ends_with(':')) continue;
    const std::string label = line.words.front().text.substr(0, line.words.front().text.size() - 1);
    if (std::ranges::find(matrix.nics, label) != matrix.nics.end()) {
      matrix.nic_names.emplace(label, line.words[1].text);
    }
  }
}

/// Whether the legend is that of -mp: as of -m, without NV#. The oldest drivers' ("Path traverses")
/// had no NV# either way.
bool is_pcie_legend(std::span<const TextLine> legend) {
  bool pcie = false;
  for (const TextLine& line : legend) {
    if (line.words.size() < 3 || line.words[1].text != "=") continue;
    if (line.words.front().text == "NV#" || line.words[2].text == "Path") return false;
    pcie = pcie || line.words.front().text == "PIX";
  }
  return pcie;
}

bool has_nvlink(const SmiMatrix& matrix) {
  return std::ranges::any_of(matrix.cells, [](const auto& row) {
    return std::ranges::any_of(row,
                               [](const std::string& cell) { return gpu_link_count(cell) > 0; });
  });
}

}  // namespace

SmiMatrix parse_smi_matrix(std::string_view text, std::string_view origin) {
  const std::vector<TextLine> lines = clean_lines(text);
  Grid grid = GridReader(lines, origin, kKind).read();
  SmiMatrix matrix;
  matrix.gpus = std::move(grid.gpus);
  matrix.nics.assign(grid.labels.begin() + static_cast<std::ptrdiff_t>(matrix.gpus.size()),
                     grid.labels.end());
  matrix.cells = std::move(grid.cells);
  matrix.cpu_affinity = texts_under(grid, "CPU Affinity");
  matrix.numa_affinity = texts_under(grid, "NUMA Affinity");
  add_nic_names(matrix, grid.legend);
  matrix.pcie_only = is_pcie_legend(grid.legend) && !has_nvlink(matrix);
  if (grid.absent_rows.size() > 1) {
    matrix.notes.push_back(fmt::format("{}: no rows of {}: what lies between these is not known",
                                       origin, join(grid.absent_rows, ", ")));
  }
  return matrix;
}

std::string nic_name(const SmiMatrix& matrix, std::size_t nic) {
  const std::string& label = matrix.nics.at(nic);
  const auto name = matrix.nic_names.find(label);
  return name == matrix.nic_names.end() ? label : name->second;
}

P2p works(std::string_view cell) {
  if (cell == "U") return P2p::Unknown;
  return cell == "OK" || cell == "X" ? P2p::Works : P2p::Off;
}

P2pMatrix parse_smi_p2p(std::string_view text, std::string_view origin) {
  std::vector<std::string_view> labels{"X", "OK"};
  for (const P2pReason& reason : kP2pReasons) labels.push_back(reason.label);
  const std::vector<TextLine> lines = clean_lines(text);
  const GridKind kind{.command = "nvidia-smi topo -p2p r", .cells = labels};
  Grid grid = GridReader(lines, origin, kind).read();
  grid.cells.resize(grid.gpus.size());
  for (auto& row : grid.cells) row.resize(grid.gpus.size());
  return {.gpus = std::move(grid.gpus), .cells = std::move(grid.cells)};
}

}  // namespace busbar::topo
