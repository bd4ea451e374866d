// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/host.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

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

namespace {

/// Adds the parts of one tree that lie above its GPUs and NICs.
class TreeBuilder {
 public:
  TreeBuilder(Graph& graph, const HostTree& tree) : graph_(graph), tree_(tree) {}

  void add_packages() {
    for (const Package& package : tree_.packages) {
      packages_.push_back(add_node(graph_, {.kind = NodeKind::Package,
                                            .name = fmt::format("CPU{}", package.index),
                                            .model = package.model,
                                            .vendor = package.vendor}));
    }
    if (packages_.empty()) {
      packages_.push_back(add_node(graph_, {.kind = NodeKind::Package, .name = "CPU0"}));
    }
    const Package first = tree_.packages.empty() ? Package{} : tree_.packages.front();
    join_packages(graph_, packages_, smp_medium(first.vendor, first.model_number));
  }

  /// Hangs a node below the object's parents. `own` is the medium of its link upwards.
  void hang(int node, std::size_t place, const Medium& own) {
    add_cable(graph_, node, above(tree_.pci[place]), add_medium(graph_, own));
  }

  [[nodiscard]] Medium medium_of(const PciObject& object) {
    if (object.generation > 0) {
      return pcie_medium(object.generation, object.width > 0 ? object.width : 16);
    }
    if (object.link_GBps <= 0) {
      assume(graph_, LinkKind::Pcie,
             fmt::format("no limit where {} has no rate of a PCIe link", tree_.origin));
      return {.name = "PCIe", .kind = LinkKind::Pcie, .source = "not reported, so no limit"};
    }
    return {.name = fmt::format("PCIe of {:g} GB/s", object.link_GBps),
            .kind = LinkKind::Pcie,
            .nominal_GBps = object.link_GBps,
            .nccl_GBps = object.nccl_GBps,
            .source = tree_.origin};
  }

 private:
  /// The node above an object: the nearest switch or host bridge, or the processor.
  int above(const PciObject& object) {
    for (int at = object.parent; at >= 0; at = tree_.pci[static_cast<std::size_t>(at)].parent) {
      const PciKind kind = tree_.pci[static_cast<std::size_t>(at)].kind;
      if (kind == PciKind::Switch || kind == PciKind::HostBridge) return part(at);
    }
    return processor(object);
  }

  /// The node of a switch or host bridge, added at first need.
  int part(int place) {
    if (const auto there = parts_.find(place); there != parts_.end()) return there->second;
    const PciObject& object = tree_.pci[static_cast<std::size_t>(place)];
    const bool is_switch = object.kind == PciKind::Switch;
    const int node =
        add_node(graph_, {.kind = is_switch ? NodeKind::PcieSwitch : NodeKind::HostBridge,
                          .name = is_switch ? fmt::format("PCIe-switch{}", switches_++)
                                            : fmt::format("bridge{}", bridges_++),
                          .numa = object.numa,
                          .bus_id = object.bus_id,
                          .model = object.model});
    parts_[place] = node;
    add_cable(graph_, node, above(object),
              add_medium(graph_, is_switch ? medium_of(object) : memory_medium()));
    return node;
  }

  /// The NUMA node that the object is near to, where its package has several; else the package.
  int processor(const PciObject& object) {
    const auto package = object.package >= 0 ? static_cast<std::size_t>(object.package) : 0;
    const int socket = packages_.at(std::min(package, packages_.size() - 1));
    const auto memories =
        std::count_if(tree_.numa.begin(), tree_.numa.end(), [&](const NumaNode& numa) {
          return !numa.gpu_memory && numa.package == object.package && !numa.cpus.empty();
        });
    if (object.numa < 0 || memories < 2) return socket;
    const std::string name = fmt::format("NUMA{}", object.numa);
    if (const int there = find_node(graph_, name); there >= 0) return there;
    const int node = add_node(graph_, {.kind = NodeKind::Numa, .name = name, .numa = object.numa});
    add_cable(graph_, node, socket, add_medium(graph_, memory_medium()));
    return node;
  }

  Graph& graph_;
  const HostTree& tree_;
  std::vector<int> packages_{};
  std::map<int, int> parts_{};
  int switches_ = 0;
  int bridges_ = 0;
};

void add_nics(Graph& graph, TreeBuilder& builder, const HostTree& tree) {
  int network = -1;
  for (const int place : all_of_kind(tree, PciKind::Nic)) {
    const PciObject& object = tree.pci[static_cast<std::size_t>(place)];
    const std::string name =
        object.names.empty() ? fmt::format("NIC {}", object.bus_id) : object.names.front();
    if (find_node(graph, name) >= 0) continue;
    const int node = add_node(graph, {.kind = NodeKind::Nic,
                                      .name = name,
                                      .numa = object.numa,
                                      .bus_id = object.bus_id,
                                      .model = object.model});
    builder.hang(node, static_cast<std::size_t>(place), builder.medium_of(object));
    if (object.net_GBps <= 0) continue;
    if (network < 0) {
      network = add_node(graph, {.kind = NodeKind::Network, .name = "network", .host = -1});
    }
    const int medium =
        add_medium(graph, {.name = fmt::format("network at {:g} GB/s", object.net_GBps),
                           .kind = LinkKind::Network,
                           .nominal_GBps = object.net_GBps,
                           .source = tree.origin});
    add_cable(graph, node, network, medium);
  }
}

}  // namespace

Medium slot_medium(Graph& graph, const GpuEntry& gpu, const HostTree* tree) {
  const int place = tree != nullptr ? find_pci(*tree, gpu.bus_id) : -1;
  const PciObject object = place >= 0 ? tree->pci[static_cast<std::size_t>(place)] : PciObject{};
  const int width = gpu.pcie_width > 0 ? gpu.pcie_width : object.width;
  const int lanes = width > 0 ? width : 16;
  // nvidia-smi reports the most of the slot.
  if (gpu.pcie_generation > 0) return pcie_medium(gpu.pcie_generation, lanes);
  const int of_board = gpu.model ? gpu.model->pcie_generation : 0;
  const int generation = std::max(object.generation, of_board);
  if (generation == 0) {
    assume(graph, LinkKind::Pcie,
           fmt::format("PCIe 3.0 x{} for every slot that no source reports; give --query", lanes));
    return pcie_medium(3, lanes);
  }
  // hwloc reports what the link runs at now, and an idle GPU slows it down.
  if (of_board == 0 && object.nccl_GBps <= 0) {
    assume(graph, LinkKind::Pcie,
           fmt::format("PCIe as fast as {} found it, which is too slow where a GPU was idle; give "
                       "--query",
                       tree->origin));
  }
  return pcie_medium(generation, lanes);
}

void join_packages(Graph& graph, const std::vector<int>& packages, const Medium& medium) {
  for (std::size_t i = 0; i < packages.size(); ++i) {
    for (std::size_t j = i + 1; j < packages.size(); ++j) {
      add_cable(graph, packages[i], packages[j], add_medium(graph, medium));
    }
  }
}

void add_host_from_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree) {
  TreeBuilder builder(graph, tree);
  builder.add_packages();
  for (GpuEntry& gpu : gpus) {
    const int place = find_pci(tree, gpu.bus_id);
    if (place < 0) {
      graph.warnings.push_back(fmt::format("GPU{} ({}) is not in {}: its PCIe is unknown",
                                           gpu.index, gpu.bus_id, tree.origin));
      continue;
    }
    builder.hang(gpu.node, static_cast<std::size_t>(place), slot_medium(graph, gpu, &tree));
  }
  add_nics(graph, builder, tree);
}

}  // namespace busbar::topo
