// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
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

/// The line above a matrix.
struct GridHeading {
  std::size_t line = 0;                 ///< index into the lines
  std::vector<std::string> labels{};    ///< of the columns, as they stand
  std::vector<std::string> headings{};  ///< of the columns behind them: "CPU Affinity"
  std::size_t headings_start = 0;       ///< of the first, on a terminal
};

/// "GPU12" -> 12.
[[nodiscard]] std::optional<int> gpu_index(std::string_view label);
/// NV followed by 1 to 999.
[[nodiscard]] bool is_nvlink_label(std::string_view word);
/// Whether a cell of this kind of matrix may say so.
[[nodiscard]] bool is_cell(const GridKind& kind, std::string_view word);
/// "PXB and NODE" of "PXBNODE"; empty for what is no row of labels without blanks.
[[nodiscard]] std::string run_together_cells(const GridKind& kind, std::string_view word);
/// Whether a line is a matrix's row: a device and then a cell, be it run together with the next.
[[nodiscard]] bool is_row_like(const GridKind& kind, const TextLine& line);
/// Whether a line is the heading of a matrix, sound or not.
[[nodiscard]] bool is_heading_like(const TextLine& line);
/// What to do about a damaged matrix: "capture it again: ...".
[[nodiscard]] std::string advice(const GridKind& kind);

/// The first heading. Throws Error (Usage) where there is none, a row stands before it, or labels
/// have run together.
[[nodiscard]] GridHeading read_heading(std::span<const TextLine> lines, std::string_view origin,
                                       const GridKind& kind);

}  // namespace busbar::topo
