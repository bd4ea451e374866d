// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "topo/assemble/host_parts.hpp"

namespace busbar::topo {
namespace {

/// Devices (GPUs, then NICs, as the matrix has them) in groups that grow from level to level.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  [[nodiscard]] std::size_t of(std::size_t member) const {
    while (parent_[member] != member) member = parent_[member];
    return member;
  }
  /// The lowest member stands for the group.
  void join(std::size_t one, std::size_t other) {
    one = of(one);
    other = of(other);
    parent_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// What joins two devices, from the nearest to the farthest.
enum class Level : std::size_t { Switch, UpperSwitch, Bridge, Numa };
constexpr std::size_t kLevels = 4;

/// The place of a level in the row of levels.
constexpr std::size_t index_of(Level level) { return static_cast<std::size_t>(level); }

/// The level at which a cell joins two devices; kLevels where it does not.
std::size_t level_of(const std::string& cell) {
  constexpr std::array<std::string_view, kLevels> kCells{"PIX", "PXB", "PHB", "NODE"};
  if (cell == "PSB") return index_of(Level::Switch);
  const auto* const found = std::find(kCells.begin(), kCells.end(), cell);
  return static_cast<std::size_t>(found - kCells.begin());
}

/// What the affinity columns say about two GPUs whose cell shows NVLink only.
bool same_affinity(const SmiMatrix& matrix, std::size_t one, std::size_t other) {
  const auto same = [&](const std::vector<std::string>& texts) {
    return one < texts.size() && other < texts.size() && !texts[one].empty() &&
           texts[one] != "N/A" && texts[one] == texts[other];
  };
  return same(matrix.numa_affinity) || same(matrix.cpu_affinity);
}

class LabelBuilder {
 public:
  LabelBuilder(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix)
      : graph_(graph), gpus_(gpus), matrix_(matrix) {
    levels_.fill(Groups(matrix.cells.size()));
    for (std::size_t level = 0; level < kLevels; ++level) group(level);
    join_by_affinity();
  }

  void build() {
    add_packages();
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      const bool is_gpu = i < gpus_.size();
      const Medium medium = is_gpu ? slot_medium(graph_, gpus_[i]) : neighbour_slot();
      const int node = is_gpu ? gpus_[i].node : add_nic(i);
      add_cable(graph_, node, above(i), add_medium(graph_, medium));
    }
  }

 private:
  [[nodiscard]] Groups& groups(Level level) { return levels_.at(index_of(level)); }
  [[nodiscard]] const Groups& groups(Level level) const { return levels_.at(index_of(level)); }

  void group(std::size_t level) {
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (level_of(matrix_.cells[i][j]) <= level) levels_.at(level).join(i, j);
      }
    }
  }

  void join_by_affinity() {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool hidden = nvlink_count(matrix_.cells[i][j]) > 0;
        if (hidden && same_affinity(matrix_, i, j)) groups(Level::Numa).join(i, j);
      }
    }
  }

  void add_packages() {
    std::vector<int> nodes;
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      const std::size_t group = groups(Level::Numa).of(i);
      if (packages_.contains(group)) continue;
      const int numa = i < gpus_.size() ? gpus_[i].numa : -1;
      packages_[group] = add_node(graph_, {.kind = NodeKind::Package,
                                           .name = fmt::format("CPU{}", packages_.size()),
                                           .numa = numa});
      nodes.push_back(packages_[group]);
    }
    join_packages(graph_, nodes, smp_medium("", -1));
  }

  int add_nic(std::size_t place) {
    const std::string name = nic_name(matrix_, place - gpus_.size());
    return add_node(graph_, {.kind = NodeKind::Nic, .name = name});
  }

  /// A GPU's slot stands for a NIC's, and for a switch's link upwards, which no label shows.
  [[nodiscard]] Medium neighbour_slot() {
    return slot_medium(graph_, gpus_.empty() ? GpuEntry{} : gpus_.front());
  }

  [[nodiscard]] std::size_t members(Level level, std::size_t place) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      if (groups(level).of(i) == groups(level).of(place)) ++count;
    }
    return count;
  }

  /// The node that a device hangs on: its switch where it shares one, else what is above.
  int above(std::size_t place) {
    const bool has_upper = members(Level::UpperSwitch, place) > members(Level::Switch, place);
    if (members(Level::Switch, place) < 2 && !has_upper) return bridge(place);
    return part(switches_, groups(Level::Switch).of(place), NodeKind::PcieSwitch, "PCIe-switch",
                [&] { return has_upper ? upper(place) : bridge(place); });
  }

  int upper(std::size_t place) {
    return part(uppers_, groups(Level::UpperSwitch).of(place), NodeKind::PcieSwitch, "PCIe-upper",
                [&] { return bridge(place); });
  }

  int bridge(std::size_t place) {
    return part(bridges_, groups(Level::Bridge).of(place), NodeKind::HostBridge, "bridge",
                [&] { return packages_.at(groups(Level::Numa).of(place)); });
  }

  /// The node of a group, added with its cable upwards at first need.
  template <typename Above>
  int part(std::map<std::size_t, int>& parts, std::size_t group, NodeKind kind,
           std::string_view word, Above above_it) {
    if (const auto there = parts.find(group); there != parts.end()) return there->second;
    const int node =
        add_node(graph_, {.kind = kind, .name = fmt::format("{}{}", word, parts.size())});
    parts[group] = node;
    const bool is_switch = kind == NodeKind::PcieSwitch;
    if (is_switch) {
      assume(
          graph_, LinkKind::Pcie,
          "PCIe switches have links upwards as wide as a GPU's slot, since topo -m does not show "
          "them; give --hwloc");
    }
    const Medium medium = is_switch ? neighbour_slot() : memory_medium();
    add_cable(graph_, node, above_it(), add_medium(graph_, medium));
    return node;
  }

  Graph& graph_;
  std::vector<GpuEntry>& gpus_;
  const SmiMatrix& matrix_;
  std::array<Groups, kLevels> levels_{Groups(0), Groups(0), Groups(0), Groups(0)};
  std::map<std::size_t, int> packages_{};
  std::map<std::size_t, int> bridges_{};
  std::map<std::size_t, int> uppers_{};
  std::map<std::size_t, int> switches_{};
};

}  // namespace

void add_host_from_labels(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix) {
  LabelBuilder(graph, gpus, matrix).build();
}

}  // namespace busbar::topo
