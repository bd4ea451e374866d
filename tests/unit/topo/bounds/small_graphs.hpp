// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/collective.hpp"
#include "topo/bounds/bound.hpp"

namespace busbar::topo {

inline const Collective& kAllReduce = *find_collective("allreduce");
inline const Collective& kAllGather = *find_collective("allgather");
inline const Collective& kAllToAll = *find_collective("alltoall");

inline void add_gpus(Graph& graph, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
  }
}

/// Cables between nodes: digits of a row are the links to each other one.
inline void add_mesh(Graph& graph, const std::vector<int>& nodes,
                     const std::vector<std::string>& rows, int medium) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      const int count = rows[i][j] - '0';
      if (count > 0) add_cable(graph, nodes[i], nodes[j], medium, count);
    }
  }
}

/// GPUs joined straight by NVLink.
inline Graph nvlink_graph(const std::vector<std::string>& rows, double link_GBps,
                          double nccl_GBps = 0) {
  Graph graph{.name = "mesh"};
  add_gpus(graph, rows.size());
  add_medium(graph, {.name = "NVLink", .nominal_GBps = link_GBps, .nccl_GBps = nccl_GBps});
  add_mesh(graph, graph.devices, rows, 0);
  return graph;
}

inline const std::vector<std::string>& dgx1v_rows() {
  static const std::vector<std::string> rows{"01122000", "10210200", "12020010", "21200001",
                                             "20000112", "02001021", "00101202", "00012120"};
  return rows;
}

/// What lies above the GPUs of a PCIe machine.
struct PcieShape {
  int gpus = 8;
  int per_switch = 2;
  int switches_per_package = 2;
  std::string vendor = "intel";
  double smp_GBps = 38.4;
  double smp_nccl_GBps = 10;
  P2p p2p = P2p::Works;
};

/// PCIe switches, packages and what joins those, above GPUs that are there already.
inline void add_pcie(Graph& graph, const PcieShape& shape) {
  const int pcie = add_medium(
      graph,
      {.name = "PCIe 3.0 x16", .kind = LinkKind::Pcie, .nominal_GBps = 15.75, .nccl_GBps = 12});
  const int smp = add_medium(graph, {.name = "UPI",
                                     .kind = LinkKind::Smp,
                                     .nominal_GBps = shape.smp_GBps,
                                     .nccl_GBps = shape.smp_nccl_GBps});
  const int switches = (shape.gpus + shape.per_switch - 1) / shape.per_switch;
  std::vector<int> packages;
  for (int k = 0; k < switches; ++k) {
    const int socket = k / shape.switches_per_package;
    if (socket == static_cast<int>(packages.size())) {
      packages.push_back(add_node(graph, {.kind = NodeKind::Package,
                                          .name = fmt::format("CPU{}", socket),
                                          .numa = socket,
                                          .vendor = shape.vendor}));
      if (socket > 0) {
        add_cable(graph, packages[to_size(socket) - 1], packages.back(), smp);
      }
    }
    const int plx =
        add_node(graph, {.kind = NodeKind::PcieSwitch, .name = fmt::format("PLX{}", k)});
    add_cable(graph, plx, packages.back(), pcie);
    for (int g = k * shape.per_switch; g < (k + 1) * shape.per_switch && g < shape.gpus; ++g) {
      add_cable(graph, graph.devices[to_size(g)], plx, pcie);
    }
  }
  const auto n = static_cast<std::size_t>(shape.gpus);
  graph.p2p.assign(n, std::vector<P2p>(n, shape.p2p));
}

inline Graph pcie_graph(const PcieShape& shape) {
  Graph graph{.name = "pcie"};
  add_gpus(graph, to_size(shape.gpus));
  add_pcie(graph, shape);
  return graph;
}

/// DGX-1 with its PCIe tree: a switch for each pair of GPUs, Broadwell's QPI.
inline Graph dgx1(const std::vector<std::string>& rows, double link_GBps, P2p p2p = P2p::Works) {
  Graph graph = nvlink_graph(rows, link_GBps, link_GBps * 4 / 5);
  add_pcie(graph, {.smp_GBps = 38.4, .smp_nccl_GBps = 6, .p2p = p2p});
  return graph;
}

/// All GPUs on one NVSwitch.
inline Graph star_graph(int gpus, double links, double link_GBps, bool reduces = false,
                        double nccl_GBps = 0) {
  Graph graph{.name = "star"};
  const int medium =
      add_medium(graph, {.name = "NVLink", .nominal_GBps = link_GBps, .nccl_GBps = nccl_GBps});
  const int hub =
      add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch", .reduces = reduces});
  add_gpus(graph, to_size(gpus));
  for (const int gpu : graph.devices) add_cable(graph, gpu, hub, medium, links);
  return graph;
}

/// Hosts of packages, each with GPUs and, where there is a network, a card.
struct HostShape {
  int hosts = 1;
  bool network = true;
  int packages = 1;
  std::string vendor{};
  std::vector<std::string> rows{};  ///< links among the GPUs of a package
  int medium = 1;                   ///< of the cable from a GPU to its package
  double links = 1;                 ///< of that cable
};

/// Adds them to a graph of these media: NVLink, PCIe, network, and bus between packages.
inline Graph with_hosts(Graph graph, const HostShape& shape) {
  const auto node = [&](NodeKind kind, const char* what, int number, int host) {
    const std::string prefix = shape.network ? fmt::format("host{}/", host) : "";
    return add_node(graph, {.kind = kind,
                            .name = fmt::format("{}{}{}", prefix, what, number),
                            .host = host,
                            .vendor = shape.vendor});
  };
  if (shape.network) add_node(graph, {.kind = NodeKind::Network, .name = "fabric", .host = -1});
  const int gpus = static_cast<int>(shape.rows.size());
  for (int host = 0; host < shape.hosts; ++host) {
    for (int socket = 0, first = -1; socket < shape.packages; ++socket) {
      const int cpu = node(NodeKind::Package, "CPU", socket, host);
      if (socket == 0) first = cpu;
      if (socket > 0) add_cable(graph, first, cpu, 3);
      std::vector<int> own;
      for (int k = 0; k < gpus; ++k) {
        own.push_back(node(NodeKind::Gpu, "GPU", socket * gpus + k, host));
        add_cable(graph, own.back(), cpu, shape.medium, shape.links);
      }
      append(graph.devices, own);
      add_mesh(graph, own, shape.rows, 0);
      if (!shape.network) continue;
      const int nic = node(NodeKind::Nic, "NIC", socket, host);
      add_cable(graph, cpu, nic, 1);
      add_cable(graph, nic, find_node(graph, "fabric"), 2);
    }
  }
  return graph;
}

/// Hosts of two POWER9 packages with GPUs on NVLink, `links` to each other and to the package; a
/// network card at each package where there are several hosts.
inline Graph power_graph(int hosts, std::size_t gpus_per_package, int links,
                         double x_bus_GBps = 32) {
  return with_hosts(
      {.name = "power",
       .media = {{.name = "NVLink 2", .nominal_GBps = 25},
                 {.name = "PCIe 4.0 x8", .kind = LinkKind::Pcie, .nominal_GBps = 15.75},
                 {.name = "EDR", .kind = LinkKind::Network, .nominal_GBps = 12},
                 {.name = "X-Bus", .kind = LinkKind::Smp, .nominal_GBps = x_bus_GBps}}},
      {.hosts = hosts,
       .network = hosts > 1,
       .packages = 2,
       .vendor = "ibm",
       .rows = {gpus_per_package, std::string(gpus_per_package, static_cast<char>('0' + links))},
       .medium = 0,
       .links = static_cast<double>(links)});
}

/// Copies of one host, each with one network card at a package that all its GPUs reach.
inline Graph cluster_of(const std::vector<std::string>& rows, double link_GBps, int hosts,
                        double nic_GBps, double flow_GBps = 0) {
  return with_hosts(
      {.name = "cluster",
       .media = {{.name = "NVLink", .nominal_GBps = link_GBps},
                 {.name = "PCIe 3.0 x16", .kind = LinkKind::Pcie, .nominal_GBps = 15.75},
                 {"Ethernet", LinkKind::Network, nic_GBps, 0, 0, flow_GBps}}},
      {.hosts = hosts, .rows = rows});
}

inline std::vector<int> prefix(int n) {
  std::vector<int> devices;
  for (int k = 0; k < n; ++k) devices.push_back(k);
  return devices;
}

}  // namespace busbar::topo
