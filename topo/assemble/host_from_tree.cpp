// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "topo/assemble/host_parts.hpp"

namespace busbar::topo {
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
