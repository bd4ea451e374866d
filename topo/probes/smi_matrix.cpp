// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_matrix.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/probes/smi_grid.hpp"

namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, 8> kCells = {"X",   "PSB",  "PIX", "PXB",
                                                    "PHB", "NODE", "SYS", "SOC"};
constexpr GridKind kKind{.command = "nvidia-smi topo -m", .cells = kCells, .nvlinks = true};

bool is_affinity(std::string_view text) {
  return text == "N/A" ||
         (!text.empty() && text.find_first_not_of("0123456789,-") == std::string_view::npos);
}

/// The fields behind a row's cells as far as they are affinities; a note ends them.
std::vector<std::string> fields_of(const GridTail& tail, bool by_tabs) {
  std::vector<std::string> fields;
  if (by_tabs) {
    const std::vector<std::string> parts = split(tail.text, '\t');
    // What stands before the first tab belongs to the last cell; further empty fields pad.
    for (std::size_t at = 1; at < parts.size(); ++at) {
      const std::string_view field = trim(parts[at]);
      if (!field.empty() && !is_affinity(field)) break;
      if (at == 1 || !field.empty()) fields.emplace_back(field);
    }
    return fields;
  }
  for (const Word& word : tail.words) {
    if (!is_affinity(word.text)) break;
    fields.push_back(word.text);
  }
  return fields;
}

/// A row's affinities, one per heading. Where tabs have become blanks, an empty first one shows
/// only by the place of the next.
std::vector<std::string> affinities_of(const Grid& grid, const GridTail& tail) {
  constexpr std::size_t kHalfTab = 4;
  const std::size_t count = grid.headings.size();
  const bool by_tabs = tail.text.find('\t') != std::string::npos;
  std::vector<std::string> fields = fields_of(tail, by_tabs);
  if (!by_tabs && count > 1 && !fields.empty() && fields.size() < count &&
      tail.start > grid.headings_start + kHalfTab) {
    fields.insert(fields.begin(), std::string{});
  }
  fields.resize(count);
  return fields;
}

/// Something that starts like a number and is no affinity stands where one should.
void check_tail(const Grid& grid, const GridTail& tail, std::string_view origin) {
  for (std::size_t at = 0; at < std::min(tail.words.size(), grid.headings.size()); ++at) {
    const Word& word = tail.words[at];
    if (is_affinity(word.text)) continue;
    if (word.text.front() < '0' || word.text.front() > '9') return;
    throw damaged({.origin = origin, .line = tail.line, .column = word.column},
                  fmt::format("{} is no list of processors or nodes", in_quotes(word.text)),
                  advice(kKind));
  }
}

std::string value_under(const Grid& grid, const std::vector<std::string>& values,
                        std::string_view heading) {
  const auto place = std::find(grid.headings.begin(), grid.headings.end(), heading);
  return place == grid.headings.end()
             ? std::string{}
             : values[static_cast<std::size_t>(place - grid.headings.begin())];
}

void add_affinities(SmiMatrix& matrix, const Grid& grid, std::string_view origin) {
  for (const GridTail& tail : grid.tails) {
    check_tail(grid, tail, origin);
    const std::vector<std::string> values = affinities_of(grid, tail);
    matrix.cpu_affinity.push_back(value_under(grid, values, "CPU Affinity"));
    matrix.numa_affinity.push_back(value_under(grid, values, "NUMA Affinity"));
    matrix.gpu_numa_id.push_back(value_under(grid, values, "GPU NUMA ID"));
  }
}

/// "NIC0: mlx5_0", with or without its heading.
void add_nic_names(SmiMatrix& matrix, std::span<const TextLine> legend) {
  for (const TextLine& line : legend) {
    if (line.words.size() < 2 || !line.words.front().text.ends_with(':')) continue;
    const std::string label = line.words.front().text.substr(0, line.words.front().text.size() - 1);
    if (std::find(matrix.nics.begin(), matrix.nics.end(), label) != matrix.nics.end()) {
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
  return std::any_of(matrix.cells.begin(), matrix.cells.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(),
                       [](const std::string& cell) { return nvlink_count(cell) > 0; });
  });
}

}  // namespace

SmiMatrix parse_smi_matrix(std::string_view text, std::string_view origin) {
  const std::vector<TextLine> lines = clean_lines(text);
  Grid grid = read_grid(lines, origin, kKind);
  const auto legend = std::span(lines).subspan(grid.end, grid.next - grid.end);
  SmiMatrix matrix;
  matrix.gpus = std::move(grid.gpus);
  matrix.nics.assign(grid.labels.begin() + static_cast<std::ptrdiff_t>(matrix.gpus.size()),
                     grid.labels.end());
  matrix.cells = std::move(grid.cells);
  add_affinities(matrix, grid, origin);
  add_nic_names(matrix, legend);
  matrix.pcie_only = is_pcie_legend(legend) && !has_nvlink(matrix);
  if (grid.absent_rows.size() > 1) {
    matrix.notes.push_back(fmt::format("{}: no rows of {}: what lies between these is not known",
                                       origin, join(grid.absent_rows, ", ")));
  }
  return matrix;
}

int nvlink_count(std::string_view cell) {
  return is_nvlink_label(cell) ? whole_number(cell.substr(2)).value_or(0) : 0;
}

std::string nic_name(const SmiMatrix& matrix, std::size_t nic) {
  const std::string& label = matrix.nics.at(nic);
  const auto name = matrix.nic_names.find(label);
  return name == matrix.nic_names.end() ? label : name->second;
}

namespace {

struct StateText {
  P2pState state = P2pState::Unknown;
  std::string_view label{};
  std::string_view words{};
};

// In the order of the enumerators.
constexpr std::array<StateText, 8> kStates = {{
    {P2pState::Self, "X", "the GPU itself"},
    {P2pState::Ok, "OK", "works"},
    {P2pState::ChipsetNotSupported, "CNS", "the chipset does not support it"},
    {P2pState::GpuNotSupported, "GNS", "the GPU does not support it"},
    {P2pState::TopologyNotSupported, "TNS", "the topology does not support it"},
    {P2pState::NotSupported, "NS", "not supported"},
    {P2pState::Disabled, "DR", "disabled in the driver's settings"},
    {P2pState::Unknown, "U", "unknown"},
}};

constexpr std::array<std::string_view, kStates.size()> labels_of_states() {
  std::array<std::string_view, kStates.size()> labels{};
  for (std::size_t at = 0; at < kStates.size(); ++at) labels[at] = kStates[at].label;
  return labels;
}
constexpr auto kLabels = labels_of_states();

constexpr GridKind kP2pKind{.command = "nvidia-smi topo -p2p r", .cells = kLabels};

const StateText& text_of(P2pState state) { return kStates.at(static_cast<std::size_t>(state)); }

P2pState state_of(std::string_view label) {
  const auto* const place = std::find(kLabels.begin(), kLabels.end(), label);
  return place == kLabels.end()
             ? P2pState::Unknown
             : kStates.at(static_cast<std::size_t>(place - kLabels.begin())).state;
}

}  // namespace

std::string_view label(P2pState state) { return text_of(state).label; }
std::string_view words(P2pState state) { return text_of(state).words; }

P2p works(P2pState state) {
  if (state == P2pState::Unknown) return P2p::Unknown;
  return state == P2pState::Ok || state == P2pState::Self ? P2p::Works : P2p::Off;
}

P2pMatrix parse_smi_p2p(std::string_view text, std::string_view origin) {
  const std::vector<TextLine> lines = clean_lines(text);
  const Grid grid = read_grid(lines, origin, kP2pKind);
  P2pMatrix matrix{.gpus = grid.gpus};
  for (std::size_t row = 0; row < grid.gpus.size(); ++row) {
    for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
      if (column == 0) matrix.cells.emplace_back();
      matrix.cells.back().push_back(state_of(grid.cells[row][column]));
    }
  }
  return matrix;
}

}  // namespace busbar::topo
