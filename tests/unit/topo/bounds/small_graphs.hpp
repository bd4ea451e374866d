// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/collective.hpp"
#include "topo/bounds/bound.hpp"

namespace busbar::topo {

inline const Collective& kAllReduce = *find_collective("allreduce");
inline const Collective& kAllGather = *find_collective("allgather");
inline const Collective& kAllToAll = *find_collective("alltoall");

/// GPUs joined straight by NVLink: digits of a row are the links to each other one.
inline Graph nvlink_graph(const std::vector<std::string>& rows, double link_GBps,
                          double nccl_GBps = 0) {
  Graph graph{.name = "mesh"};
  const int medium =
      add_medium(graph, {.name = "NVLink", .nominal_GBps = link_GBps, .nccl_GBps = nccl_GBps});
  for (std::size_t k = 0; k < rows.size(); ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      const int count = rows[i][j] - '0';
      if (count > 0) add_cable(graph, graph.devices[i], graph.devices[j], medium, count);
    }
  }
  return graph;
}

/// The same machine with GPUs of AMD.
inline Graph with_xgmi(Graph graph) {
  for (Medium& medium : graph.media) {
    if (medium.kind == LinkKind::NvLink) medium = {"xGMI", LinkKind::Xgmi, medium.nominal_GBps};
  }
  return graph;
}

inline const std::vector<std::string>& dgx1v_rows() {
  static const std::vector<std::string> rows{"01122000", "10210200", "12020010", "21200001",
                                             "20000112", "02001021", "00101202", "00012120"};
  return rows;
}

inline const std::vector<std::string>& dgx1p_rows() {
  static const std::vector<std::string> rows{"01111000", "10110100", "11010010", "11100001",
                                             "10000111", "01001011", "00101101", "00011110"};
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
        add_cable(graph, packages[static_cast<std::size_t>(socket) - 1], packages.back(), smp);
      }
    }
    const int plx =
        add_node(graph, {.kind = NodeKind::PcieSwitch, .name = fmt::format("PLX{}", k)});
    add_cable(graph, plx, packages.back(), pcie);
    for (int g = k * shape.per_switch; g < (k + 1) * shape.per_switch && g < shape.gpus; ++g) {
      add_cable(graph, graph.devices[static_cast<std::size_t>(g)], plx, pcie);
    }
  }
  const auto n = static_cast<std::size_t>(shape.gpus);
  graph.p2p.assign(n, std::vector<P2p>(n, shape.p2p));
}

inline Graph pcie_graph(const PcieShape& shape) {
  Graph graph{.name = "pcie"};
  for (int k = 0; k < shape.gpus; ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
  }
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
  for (int k = 0; k < gpus; ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
    add_cable(graph, graph.devices.back(), hub, medium, links);
  }
  return graph;
}

/// Hosts of two POWER9 packages with GPUs on NVLink, `links` to each other and to the package; a
/// network card at each package where there are several hosts.
inline Graph power_graph(int hosts, int gpus_per_package, double links, double x_bus_GBps = 32,
                         double nic_GBps = 12) {
  Graph graph{.name = "power"};
  const int nvlink = add_medium(graph, {.name = "NVLink 2", .nominal_GBps = 25});
  const int bus =
      add_medium(graph, {.name = "X-Bus", .kind = LinkKind::Smp, .nominal_GBps = x_bus_GBps});
  const int pcie =
      add_medium(graph, {.name = "PCIe 4.0 x8", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int net =
      add_medium(graph, {.name = "EDR", .kind = LinkKind::Network, .nominal_GBps = nic_GBps});
  const int fabric =
      hosts > 1 ? add_node(graph, {.kind = NodeKind::Network, .name = "fabric", .host = -1}) : -1;
  for (int host = 0; host < hosts; ++host) {
    const std::string prefix = hosts > 1 ? fmt::format("host{}/", host) : "";
    std::vector<int> packages;
    for (int socket = 0; socket < 2; ++socket) {
      packages.push_back(add_node(graph, {.kind = NodeKind::Package,
                                          .name = fmt::format("{}CPU{}", prefix, socket),
                                          .host = host,
                                          .vendor = "ibm"}));
      std::vector<int> gpus;
      for (int k = 0; k < gpus_per_package; ++k) {
        gpus.push_back(add_node(
            graph,
            {.name = fmt::format("{}GPU{}", prefix, socket * gpus_per_package + k), .host = host}));
        graph.devices.push_back(gpus.back());
        add_cable(graph, gpus.back(), packages.back(), nvlink, links);
        for (int other = 0; other < k; ++other) {
          add_cable(graph, gpus[static_cast<std::size_t>(other)], gpus.back(), nvlink, links);
        }
      }
      if (fabric < 0) continue;
      const int nic = add_node(
          graph,
          {.kind = NodeKind::Nic, .name = fmt::format("{}NIC{}", prefix, socket), .host = host});
      add_cable(graph, packages.back(), nic, pcie);
      add_cable(graph, nic, fabric, net);
    }
    add_cable(graph, packages[0], packages[1], bus);
  }
  return graph;
}

/// Copies of one host, each with one network card at a package that all its GPUs reach.
inline Graph cluster_of(const std::vector<std::string>& rows, double link_GBps, int hosts,
                        double nic_GBps, double flow_GBps = 0) {
  Graph graph{.name = "cluster"};
  const int nvlink = add_medium(graph, {.name = "NVLink", .nominal_GBps = link_GBps});
  const int pcie =
      add_medium(graph, {.name = "PCIe 3.0 x16", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int net = add_medium(graph, {.name = "Ethernet",
                                     .kind = LinkKind::Network,
                                     .nominal_GBps = nic_GBps,
                                     .flow_GBps = flow_GBps});
  const int fabric = add_node(graph, {.kind = NodeKind::Network, .name = "fabric", .host = -1});
  for (int host = 0; host < hosts; ++host) {
    const auto name = [&](const char* what, std::size_t k) {
      return fmt::format("host{}/{}{}", host, what, k);
    };
    const int cpu =
        add_node(graph, {.kind = NodeKind::Package, .name = name("CPU", 0), .host = host});
    const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = name("NIC", 0), .host = host});
    add_cable(graph, cpu, nic, pcie);
    add_cable(graph, nic, fabric, net);
    std::vector<int> gpus;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      gpus.push_back(add_node(graph, {.name = name("GPU", i), .host = host}));
      graph.devices.push_back(gpus.back());
      add_cable(graph, gpus.back(), cpu, pcie);
      for (std::size_t j = 0; j < i; ++j) {
        if (rows[i][j] > '0') add_cable(graph, gpus[i], gpus[j], nvlink, rows[i][j] - '0');
      }
    }
  }
  return graph;
}

inline std::vector<int> prefix(int n) {
  std::vector<int> devices;
  for (int k = 0; k < n; ++k) devices.push_back(k);
  return devices;
}

}  // namespace busbar::topo
