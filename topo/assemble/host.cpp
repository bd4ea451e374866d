// SPDX-License-Identifier: BSD-3-Clause

#include "topo/assemble/gpus.hpp"

namespace busbar::topo {
namespace {

/// PCIe of a GPU's slot by the best source; `object` is what a tree reports of it. What has to be
/// guessed is added to the graph's assumptions.
Medium slot_medium(Graph& graph, const GpuEntry& gpu, const PciObject& object = {}) {
  const int width = gpu.pcie_width > 0 ? gpu.pcie_width : object.width;
  const int lanes = width > 0 ? width : 16;
  // nvidia-smi reports the most of the slot.
  if (gpu.pcie_generation > 0) return pcie_medium(gpu.pcie_generation, lanes);
  const int of_board = gpu.model ? gpu.model->pcie_generation : 0;
  const int generation = std::max(object.generation, of_board);
  if (generation > 0) return pcie_medium(generation, lanes);
  assume(graph, LinkKind::Pcie,
         fmt::format("PCIe 3.0 x{} for every slot that no source reports; give --query or --gpu",
                     lanes));
  return pcie_medium(3, lanes);
}

/// Joins every two packages of the host.
void join_packages(Graph& graph, const std::vector<int>& packages, const Medium& medium) {
  for (std::size_t i = 0; i < packages.size(); ++i) {
    for (std::size_t j = i + 1; j < packages.size(); ++j) {
      add_cable(graph, packages[i], packages[j], add_medium(graph, medium));
    }
  }
}

/// What joins two devices, from the nearest to the farthest.
enum SmiLevel : std::size_t { LevelSwitch, LevelUpperSwitch, LevelBridge, LevelNuma, LevelCount };

/// The level at which a cell joins two devices; LevelCount where it does not.
std::size_t level_of(const std::string& cell) {
  constexpr std::array<std::string_view, LevelCount> kCells{"PIX", "PXB", "PHB", "NODE"};
  if (cell == "PSB") return LevelSwitch;
  const auto* const found = std::ranges::find(kCells, cell);
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

/// Devices are GPUs, then NICs, as the matrix has them.
class LabelBuilder {
 public:
  LabelBuilder(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix)
      : graph_(graph), gpus_(gpus), matrix_(matrix) {
    groups_.fill(first_numbers<std::size_t>(matrix.cells.size()));
    for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::string& cell = matrix.cells[i][j];
        const bool hidden = i < gpus.size() && gpu_link_count(cell) > 0;
        const bool near = hidden && (same_affinity(matrix, i, j) ||
                                     (gpus[i].numa >= 0 && gpus[i].numa == gpus[j].numa));
        for (std::size_t l = near ? LevelNuma : level_of(cell); l < LevelCount; ++l) join(l, i, j);
      }
    }
  }

  void build() {
    add_packages();
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      const bool is_gpu = i < gpus_.size();
      const Medium medium = is_gpu ? slot_medium(graph_, gpus_[i]) : neighbour_slot();
      const int node = is_gpu ? gpus_[i].node
                              : add_node(graph_, {.kind = NodeKind::Nic,
                                                  .name = nic_name(matrix_, i - gpus_.size())});
      if (!is_placed(i)) continue;
      add_cable(graph_, node, above(LevelSwitch, i), add_medium(graph_, medium));
    }
  }

 private:
  /// The lowest member stands for a group.
  void join(std::size_t level, std::size_t one, std::size_t other) {
    std::vector<std::size_t>& groups = groups_.at(level);
    const std::size_t low = std::min(groups[one], groups[other]);
    const std::size_t high = std::max(groups[one], groups[other]);
    std::ranges::replace(groups, high, low);
  }

  [[nodiscard]] std::size_t group(std::size_t level, std::size_t device) const {
    return groups_.at(level)[device];
  }

  /// Not a NIC that is near no GPU where the text lacks what lies between it and other NICs: it may
  /// be anywhere.
  [[nodiscard]] bool is_placed(std::size_t device) const {
    const std::vector<std::string>& row = matrix_.cells[device];
    return group(LevelNuma, device) < gpus_.size() ||
           std::ranges::none_of(row, &std::string::empty);
  }

  void add_packages() {
    std::vector<int> nodes;
    for (std::size_t i = 0; i < matrix_.cells.size(); ++i) {
      if (!is_placed(i)) continue;
      const auto [entry, is_new] = nodes_[LevelNuma].try_emplace(group(LevelNuma, i), 0);
      if (!is_new) continue;
      const int numa = i < gpus_.size() ? gpus_[i].numa : -1;
      entry->second = add_node(
          graph_,
          {.kind = NodeKind::Package, .name = fmt::format("CPU{}", nodes.size()), .numa = numa});
      nodes.push_back(entry->second);
    }
    join_packages(graph_, nodes, smp_medium("", -1));
  }

  /// A GPU's slot stands for a NIC's, and for a switch's link upwards, which no label shows.
  [[nodiscard]] Medium neighbour_slot() {
    return slot_medium(graph_, gpus_.empty() ? GpuEntry{} : gpus_.front());
  }

  [[nodiscard]] std::ptrdiff_t members(std::size_t level, std::size_t device) const {
    const std::vector<std::size_t>& groups = groups_.at(level);
    return std::ranges::count(groups, groups[device]);
  }

  /// Whether a device has a part of its own at a level: a switch only where it shares one.
  [[nodiscard]] bool has_part(std::size_t level, std::size_t device) const {
    const bool upper = members(LevelUpperSwitch, device) > members(LevelSwitch, device);
    return level >= LevelBridge || upper ||
           (level == LevelSwitch && members(LevelSwitch, device) > 1);
  }

  /// The node that a device hangs on at this level or above, added with its cable upwards at first
  /// need.
  int above(std::size_t level, std::size_t device) {
    if (!has_part(level, device)) return above(level + 1, device);
    std::map<std::size_t, int>& nodes = nodes_.at(level);
    const auto found = nodes.find(group(level, device));
    if (found != nodes.end()) return found->second;
    constexpr std::array<std::string_view, LevelNuma> kNames{"PCIe-switch", "PCIe-upper", "bridge"};
    const bool is_switch = level < LevelBridge;
    const int node =
        add_node(graph_, {.kind = is_switch ? NodeKind::PcieSwitch : NodeKind::HostBridge,
                          .name = fmt::format("{}{}", kNames.at(level), nodes.size())});
    nodes[group(level, device)] = node;
    if (is_switch) {
      assume(graph_, LinkKind::Pcie,
             "PCIe switches have links upwards as wide as a GPU's slot, since topo -m does not "
             "show them; give --hwloc");
    }
    const Medium medium = is_switch ? neighbour_slot() : memory_medium();
    add_cable(graph_, node, above(level + 1, device), add_medium(graph_, medium));
    return node;
  }

  Graph& graph_;
  std::vector<GpuEntry>& gpus_;
  const SmiMatrix& matrix_;
  std::array<std::vector<std::size_t>, LevelCount> groups_{};  ///< of each device
  std::array<std::map<std::size_t, int>, LevelCount>
      nodes_{};  ///< of each group, where it is added
};

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
    if (packages_.size() > 1 && first.model.starts_with("POWER8")) {
      assume(graph_, LinkKind::Smp, "X-Bus as of POWER9: no rate of POWER8's is known");
    }
  }

  /// Hangs a node below the object's parents. `own` is the medium of its link upwards.
  void hang(int node, const PciObject& object, const Medium& own) {
    add_cable(graph_, node, above(object), add_medium(graph_, own));
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
            .source = tree_.origin};
  }

 private:
  /// The node above an object: the nearest switch or host bridge, or the processor.
  int above(const PciObject& object) {
    if (object.parent < 0) return processor(object);
    const PciObject& parent = tree_.pci[to_size(object.parent)];
    const bool has_node = parent.kind == PciKind::Switch || parent.kind == PciKind::HostBridge;
    return has_node ? part(parent) : above(parent);
  }

  /// The node of a switch or host bridge, added at first need.
  int part(const PciObject& object) {
    if (const auto there = parts_.find(&object); there != parts_.end()) return there->second;
    const bool is_switch = object.kind == PciKind::Switch;
    const int node =
        add_node(graph_, {.kind = is_switch ? NodeKind::PcieSwitch : NodeKind::HostBridge,
                          .name = is_switch ? fmt::format("PCIe-switch{}", switches_++)
                                            : fmt::format("bridge{}", bridges_++),
                          .numa = object.numa,
                          .bus_id = object.bus_id,
                          .model = object.model});
    parts_[&object] = node;
    add_cable(graph_, node, above(object),
              add_medium(graph_, is_switch ? medium_of(object) : memory_medium()));
    return node;
  }

  /// The NUMA node that the object is near to, where its package has several; else the package.
  int processor(const PciObject& object) {
    const int socket = packages_.at(to_size(std::max(object.package, 0)));
    const auto memories = std::ranges::count_if(tree_.numa, [&](const NumaNode& numa) {
      return !numa.gpu_memory && numa.package == object.package && numa.has_cpus;
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
  std::map<const PciObject*, int> parts_{};
  int switches_ = 0;
  int bridges_ = 0;
};

void add_nics(Graph& graph, TreeBuilder& builder, const HostTree& tree) {
  int network = -1;
  for (const PciObject& object : tree.pci) {
    if (object.kind != PciKind::Nic) continue;
    const std::string name =
        object.names.empty() ? fmt::format("NIC {}", object.bus_id) : object.names.front();
    if (find_node(graph, name) >= 0) continue;
    const int node = add_node(graph, {.kind = NodeKind::Nic,
                                      .name = name,
                                      .numa = object.numa,
                                      .bus_id = object.bus_id,
                                      .model = object.model});
    builder.hang(node, object, builder.medium_of(object));
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

void add_host_from_labels(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix) {
  LabelBuilder(graph, gpus, matrix).build();
}

void add_unplaced_gpus(Graph& graph, const std::vector<GpuEntry>& gpus) {
  std::vector<const GpuEntry*> unplaced;
  bool parted = false;
  for (const GpuEntry& gpu : gpus) {
    if (nearest(graph, gpu.node, NodeKind::Package) >= 0) continue;
    unplaced.push_back(&gpu);
    parted = parted || std::ranges::any_of(gpus, [&](const GpuEntry& other) {
               return other.node != gpu.node && gpu_links(graph, gpu.node, other.node) <= 0;
             });
  }
  if (!parted) return;
  const std::vector<int> packages = nodes_of_kind(graph, NodeKind::Package);
  const int package = packages.empty()
                          ? add_node(graph, {.kind = NodeKind::Package, .name = "CPU0"})
                          : packages.front();
  for (const GpuEntry* gpu : unplaced) {
    add_cable(graph, gpu->node, package, add_medium(graph, slot_medium(graph, *gpu)));
  }
  assume(graph, LinkKind::Pcie,
         "each GPU that no source places is at a slot of its own of one processor; give --smi or "
         "--hwloc");
}

void add_host_from_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree) {
  TreeBuilder builder(graph, tree);
  builder.add_packages();
  for (GpuEntry& gpu : gpus) {
    const PciObject* object = find_pci(tree, gpu.bus_id);
    if (object == nullptr) {
      graph.warnings.push_back(fmt::format("GPU{} ({}) is not in {}: its PCIe is unknown",
                                           gpu.index, gpu.bus_id, tree.origin));
      continue;
    }
    builder.hang(gpu.node, *object, slot_medium(graph, gpu, *object));
  }
  add_nics(graph, builder, tree);
}

}  // namespace busbar::topo
