// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {

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

/// Reads the first matrix. Throws Error (Usage) with line and column.
[[nodiscard]] Grid read_grid(std::span<const TextLine> lines, std::string_view origin,
                             const GridKind& kind);

}  // namespace busbar::topo
