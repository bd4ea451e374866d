// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {

/// Which matrix of nvidia-smi is looked for.
struct GridKind {
  std::string_view command{};                 ///< "nvidia-smi topo -m", for the advice
  std::span<const std::string_view> cells{};  ///< labels of cells, without NV#
  bool nvlinks = false;                       ///< whether NV# is a label of cells
};

/// What follows the cells of a row.
struct GridTail {
  std::string text{};    ///< from the blank behind the last cell
  std::size_t line = 1;  ///< for messages
  std::vector<Word> words{};
  std::size_t start = 0;  ///< of the first word, on a terminal
};

/// A matrix of labels as nvidia-smi prints several, checked: every GPU has its row, X is on the
/// diagonal and nowhere else, and the two cells of a pair agree.
struct Grid {
  std::vector<std::string> labels{};  ///< GPUs by index, then the others by name and number
  std::vector<int> gpus{};            ///< indices of the GPUs among the labels, rising
  std::vector<std::vector<std::string>> cells{};  ///< empty where both rows of a pair are missing
  std::vector<std::string> absent_rows{};         ///< labels without a row; never a GPU's
  std::vector<std::string> headings{};            ///< "CPU Affinity", "NUMA Affinity", ...
  std::size_t headings_start = 0;                 ///< of the first, on a terminal
  std::vector<GridTail> tails{};                  ///< of the GPUs
  std::size_t end = 0;                            ///< first line behind the rows
  std::size_t next = 0;                           ///< line of the next matrix, or all lines
};

/// Reads the first matrix. Throws Error (Usage) with line and column.
[[nodiscard]] Grid read_grid(std::span<const TextLine> lines, std::string_view origin,
                             const GridKind& kind);

/// NV followed by 1 to 999.
[[nodiscard]] bool is_nvlink_label(std::string_view word);
/// What to do about a damaged matrix: "capture it again: ...".
[[nodiscard]] std::string advice(const GridKind& kind);

}  // namespace busbar::topo
