// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_p2p.hpp"

#include <algorithm>
#include <array>

#include "topo/probes/smi_grid.hpp"

namespace busbar::topo {
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

constexpr GridKind kKind{.command = "nvidia-smi topo -p2p r", .cells = kLabels};

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
  const Grid grid = read_grid(lines, origin, kKind);
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
