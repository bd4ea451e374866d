// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_matrix.hpp"

#include <cctype>

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

struct GridKind {
  std::string_view command{};                 ///< "nvidia-smi topo -m", for messages
  std::span<const std::string_view> cells{};  ///< labels of cells, without NV#
  bool nvlinks = false;                       ///< whether NV# is a label of cells
};

using WordSpan = std::span<const Word>;

constexpr std::string_view kDigits = "0123456789";

std::optional<int> gpu_index(std::string_view label) {
  if (!label.starts_with("GPU")) return std::nullopt;
  const std::string_view number = label.substr(3);
  if (number.size() > 1 && number.front() == '0') return std::nullopt;
  return whole_number(number);
}

/// A GPU, or a NIC as the driver or the kernel names it: NIC0, mlx5_0, rocep49s0, bnxt_re0.
bool is_device(std::string_view word) {
  if (word.starts_with("GPU")) return gpu_index(word).has_value();
  if (word.starts_with("NIC")) return whole_number(word.substr(3)).has_value();
  const auto fits = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.';
  };
  return std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         word.find_first_of(kDigits) != std::string_view::npos && std::ranges::all_of(word, fits);
}

bool begins_headings(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "GPU";
}

bool is_cell(const GridKind& kind, std::string_view word) {
  return (kind.nvlinks && gpu_link_count(word) > 0) ||
         std::ranges::find(kind.cells, word) != kind.cells.end();
}

/// Whether a line begins as a row does: a device and then a cell.
bool is_row(const GridKind& kind, const TextLine& line) {
  return line.words.size() > 1 && is_cell(kind, line.words[1].text);
}

/// Whether a line is the labels of a matrix's columns: a GPU, and then the next label.
bool is_heading(const GridKind& kind, const TextLine& line) {
  if (line.words.empty() || !gpu_index(line.words.front().text)) return false;
  if (line.words.size() == 1) return true;
  const std::string& second = line.words[1].text;
  return begins_headings(second) || (is_device(second) && !is_cell(kind, second));
}

/// Orders GPUs before all else and numbers by their value: "NIC2" before "NIC10".
std::string sort_key(std::string_view label) {
  std::string key = gpu_index(label) ? "0" : "1";
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t end = std::min(label.find_first_not_of(kDigits, at), label.size());
    key += end > at ? fmt::format("{:0>9}", label.substr(at, end - at)) : std::string(1, label[at]);
    at = std::max(end, at + 1);
  }
  return key;
}

/// Old drivers' word for what is SYS since.
std::string today(const std::string& cell) { return cell == "SOC" ? "SYS" : cell; }

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

/// Reads the first matrix. Throws Error (Usage) with line and column.
class GridReader {
 public:
  GridReader(std::span<const TextLine> lines, std::string_view origin, const GridKind& kind)
      : lines_(lines), from_{.name = origin, .command = kind.command}, kind_(kind) {}

  [[nodiscard]] SmiMatrix read() {
    const std::size_t heading = find_heading();
    read_heading(lines_[heading]);
    rows_.resize(width());
    read_rows(heading + 1);
    for (std::size_t row = 0; row < width(); ++row) check_row(row);
    arrange();
    add_nic_names(matrix_, legend_);
    matrix_.pcie_only = is_pcie_legend(legend_) && !has_nvlink(matrix_);
    return std::move(matrix_);
  }

 private:
  [[nodiscard]] std::size_t width() const { return labels_.size(); }

  /// Throws where there is no heading, or a row stands before it.
  [[nodiscard]] std::size_t find_heading() const {
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const TextLine& line = lines_[at];
      if (is_heading(kind_, line)) return at;
      if (!is_row(kind_, line) || !gpu_index(line.words.front().text)) continue;
      throw from_.fault(line.words.front(),
                        "a row of {} without the line of column labels above it",
                        in_quotes(line.words.front().text));
    }
    throw from_.fault(Word{}, "not a matrix of `{}`: no line of labels GPU0, GPU1, ...",
                      kind_.command);
  }

  /// Devices, and behind them affinities.
  void read_heading(const TextLine& line) {
    constexpr std::array<std::string_view, 2> kAffinities{"CPU Affinity", "NUMA Affinity"};
    std::size_t at = 0;
    while (at < line.words.size() && !begins_headings(line.words[at].text)) {
      add_label(line.words[at++]);
    }
    if (at == line.words.size()) return;
    std::string_view rest = std::string_view{line.text}.substr(line.words[at].begin);
    for (const std::string_view affinity : kAffinities) {
      if (!rest.starts_with(affinity)) break;
      rest = trim(rest.substr(affinity.size()));
      ++affinities_;
    }
    if (affinities_ > 0) return;
    throw from_.fault(line.words[at], "{} is not a whole heading: the line is cut short",
                      in_quotes(line.words[at].text));
  }

  void add_label(const Word& word) {
    constexpr std::size_t kMostColumns = 512;
    const auto fault = [&](std::string_view what) {
      return from_.fault(word, "{} {}", in_quotes(word.text), what);
    };
    if (!is_device(word.text)) throw fault("is not a column label");
    if (std::ranges::find(labels_, word.text) != labels_.end()) {
      throw fault("has two columns");
    }
    if (width() == kMostColumns) throw fault("is one column too many; at most 512 are read");
    labels_.push_back(word.text);
  }

  /// The rows down to a legend, and then the legend.
  void read_rows(std::size_t first) {
    std::size_t end = first;  // behind the last row
    for (std::size_t at = first; at < lines_.size(); ++at) {
      if (lines_[at].empty()) continue;
      if (lines_[at].words.front().text.starts_with("Legend")) break;
      if (read_row(lines_[at])) end = at + 1;
    }
    legend_ = lines_.subspan(end);
    check_rows_of_gpus(lines_[end - 1]);
  }

  /// False for a line that is not a row.
  bool read_row(const TextLine& line) {
    const Word& label = line.words.front();
    const auto column = std::ranges::find(labels_, label.text);
    if (column == labels_.end()) {
      if (!is_row(kind_, line)) return false;
      throw from_.fault(label, "{} has a row but no column", in_quotes(label.text));
    }
    const TextLine*& row = rows_[static_cast<std::size_t>(column - labels_.begin())];
    if (row != nullptr) throw from_.fault(label, "{} has two rows", label.text);
    check_cells(line);
    row = &line;
    return true;
  }

  void check_cells(const TextLine& line) const {
    const std::string& label = line.words.front().text;
    const WordSpan words = WordSpan(line.words).subspan(1);
    std::size_t count = 0;
    while (count < words.size() && is_cell(kind_, words[count].text)) ++count;
    if (count < std::min(width(), words.size())) {
      throw from_.fault(words[count], "{} in the row of {} is not a cell of this matrix",
                        in_quotes(words[count].text), label);
    }
    if (count == width()) return;
    throw from_.fault(count > width() ? words[width()] : line.end(),
                      "the row of {} has {} cells for {} columns", label, count, width());
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
        throw from_.fault(here, "{} to {} is {}; X is for a device itself, and for nothing else",
                          label, other, here.text);
      }
      if (rows_[column] == nullptr || rows_[column]->number > line.number) continue;
      const std::string& back = cell(column, row).text;
      if (today(back) == today(here.text)) continue;
      throw from_.fault(here, "{} to {} is {}, but {} to {} is {} in line {}", label, other,
                        here.text, other, label, back, rows_[column]->number);
    }
  }

  void arrange() {
    auto order = first_numbers<std::size_t>(width());
    std::ranges::sort(order, [&](std::size_t one, std::size_t other) {
      return sort_key(labels_[one]) < sort_key(labels_[other]);
    });
    std::vector<std::string> absent;
    for (const std::size_t row : order) {
      if (rows_[row] == nullptr) absent.push_back(labels_[row]);
      if (const auto gpu = gpu_index(labels_[row])) {
        matrix_.gpus.push_back(*gpu);
        matrix_.cpu_affinity.push_back(affinity(*rows_[row], 0));
        matrix_.numa_affinity.push_back(affinity(*rows_[row], 1));
      } else {
        matrix_.nics.push_back(labels_[row]);
      }
      std::vector<std::string>& cells = matrix_.cells.emplace_back();
      for (const std::size_t column : order) cells.push_back(text_of_cell(row, column));
    }
    if (absent.size() < 2) return;
    matrix_.notes.push_back(fmt::format("{}: no rows of {}: what lies between these is not known",
                                        from_.name, join(absent, ", ")));
  }

  [[nodiscard]] std::string text_of_cell(std::size_t row, std::size_t column) const {
    if (row == column) return "X";
    if (rows_[row] != nullptr) return today(cell(row, column).text);
    return rows_[column] != nullptr ? today(cell(column, row).text) : std::string{};
  }

  /// A row's CPU (0) or NUMA affinity (1); empty where it has none. Tabs show which is missing.
  [[nodiscard]] std::string affinity(const TextLine& line, std::size_t which) const {
    if (which >= affinities_) return {};
    const std::string_view tail = std::string_view{line.text}.substr(line.words[width()].end());
    if (tail.find('\t') != std::string_view::npos) {
      const std::vector<std::string> parts = split(tail, '\t');
      return which + 1 < parts.size() ? std::string(trim(parts[which + 1])) : std::string{};
    }
    const WordSpan words = WordSpan(line.words).subspan(width() + 1);
    return which < words.size() ? words[which].text : std::string{};
  }

  std::span<const TextLine> lines_;
  SmiOrigin from_;
  const GridKind& kind_;
  std::vector<std::string> labels_{};    ///< of the columns, as they stand
  std::vector<const TextLine*> rows_{};  ///< of the labels; null where there is none
  std::span<const TextLine> legend_{};   ///< what follows the rows
  std::size_t affinities_ = 0;           ///< columns of them: none, of CPUs, and of NUMA nodes
  SmiMatrix matrix_{};
};

constexpr std::array<std::string_view, 8> kCells = {"X",   "PSB",  "PIX", "PXB",
                                                    "PHB", "NODE", "SYS", "SOC"};
constexpr GridKind kKind{.command = "nvidia-smi topo -m", .cells = kCells, .nvlinks = true};

}  // namespace

SmiMatrix parse_smi_matrix(std::string_view text, std::string_view origin) {
  const std::vector<TextLine> lines = clean_lines(text);
  return GridReader(lines, origin, kKind).read();
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
  SmiMatrix matrix = GridReader(lines, origin, kind).read();
  matrix.cells.resize(matrix.gpus.size());
  for (auto& row : matrix.cells) row.resize(matrix.gpus.size());
  return {.gpus = std::move(matrix.gpus), .cells = std::move(matrix.cells)};
}

}  // namespace busbar::topo
