// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_matrix.hpp"

#include "topo/probes/smi_grid.hpp"

namespace busbar::topo {
namespace {

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
  Grid grid = read_grid(lines, origin, kKind);
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
  Grid grid = read_grid(lines, origin, {.command = "nvidia-smi topo -p2p r", .cells = labels});
  grid.cells.resize(grid.gpus.size());
  for (auto& row : grid.cells) row.resize(grid.gpus.size());
  return {.gpus = std::move(grid.gpus), .cells = std::move(grid.cells)};
}

}  // namespace busbar::topo
