// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/enum_names.hpp"
#include "topo/graph/protocol.hpp"

namespace busbar::topo {

/// What a node of the graph is.
enum class NodeKind {
  Gpu,
  Processor,
  NvSwitch,
  PcieSwitch,
  HostBridge,
  Numa,
  Package,
  Nic,
  Network
};
constexpr auto enum_names(NodeKind) {
  return std::array{Named{NodeKind::Gpu, "gpu"},
                    Named{NodeKind::Processor, "processor"},
                    Named{NodeKind::NvSwitch, "nvswitch"},
                    Named{NodeKind::PcieSwitch, "pcie-switch"},
                    Named{NodeKind::HostBridge, "host-bridge"},
                    Named{NodeKind::Numa, "numa"},
                    Named{NodeKind::Package, "package"},
                    Named{NodeKind::Nic, "nic"},
                    Named{NodeKind::Network, "network"}};
}

/// What a link is made of. Memory is what joins parts of one package: it limits nothing unless a
/// figure is known.
enum class LinkKind { NvLink, Xgmi, Pcie, Memory, Smp, Network };
constexpr auto enum_names(LinkKind) {
  return std::array{Named{LinkKind::NvLink, "nvlink"}, Named{LinkKind::Xgmi, "xgmi"},
                    Named{LinkKind::Pcie, "pcie"},     Named{LinkKind::Memory, "memory"},
                    Named{LinkKind::Smp, "smp"},       Named{LinkKind::Network, "network"}};
}
/// Whether it is made for GPUs (NVIDIA's or AMD's): all such kinds are used alike.
[[nodiscard]] constexpr bool is_gpu_link(LinkKind kind) {
  return kind == LinkKind::NvLink || kind == LinkKind::Xgmi;
}
/// "NVLink" or "xGMI", for people.
[[nodiscard]] constexpr std::string_view gpu_link_text(LinkKind kind) {
  return kind == LinkKind::Xgmi ? "xGMI" : "NVLink";
}
/// What a matrix of labels shows for that many links of a kind: "NV4", "XGMI", "XGMI4".
[[nodiscard]] std::string gpu_link_label(LinkKind kind, double count);
/// Number of links of a label: 4 of "NV4", 1 of "XGMI", at most 999; 0 of anything else.
[[nodiscard]] int gpu_link_count(std::string_view label);

/// One part of a machine. Names are unique in a graph: "GPU0", "NIC0", "CPU1", "host1/GPU0".
struct Node {
  NodeKind kind = NodeKind::Gpu;
  std::string name{};
  int host = 0;          ///< of several equal or different hosts; -1 for what joins them
  int numa = -1;         ///< the operating system's number; -1 where unknown
  std::string bus_id{};  ///< "0000:06:00.0", as normal_bus_id writes it; empty where it has none
  std::string model{};   ///< "Tesla V100-SXM2-16GB"
  std::string uuid{};    ///< of a GPU: "GPU-..."
  std::string vendor{};  ///< of a package: "intel", "amd", "ibm", "arm"
  bool reduces = false;  ///< a switch that adds what passes through it (NVLS)
  int most_hosts = 0;    ///< that a switch of no host joins; 0: any number
};

/// One cable, lane bundle or bus; several links are of one medium.
struct Medium {
  std::string name{};  ///< for people: "NVLink 2", "PCIe 3.0 x16", "X-Bus"
  LinkKind kind = LinkKind::NvLink;
  double nominal_GBps = 0;   ///< per direction, of one; 0: no limit
  double nccl_GBps = 0;      ///< what NCCL assumes; 0: as nominal
  double reported_GBps = 0;  ///< what the machine's own tools report; 0: as nominal
  double flow_GBps = 0;      ///< peak bandwidth of one flow (connection); 0: all
  double efficiency = 0;     ///< that software reaches of it, for predictions; 0: the protocol's
  std::string source{};      ///< of the figures, in words
};

/// One direction between two nodes; a cable is two links.
struct Link {
  int from = 0;
  int to = 0;
  int medium = 0;
  double count = 1;  ///< of the medium, side by side
};

/// What the links of one kind rest on though no source reports it, and how to know better.
struct Assumption {
  LinkKind kind = LinkKind::Pcie;
  std::string text{};  ///< "PCIe 3.0 x16 for every slot: ...; give --query"

  [[nodiscard]] bool operator==(const Assumption&) const = default;
};

/// Whether two GPUs reach each other's memory without the host's.
enum class P2p { Unknown, Works, Off };

/// Where a capacity comes from: the standard's figure, what the machine's tools report (nominal
/// where they report nothing), or NCCL's constants (src/graph/topo.h of NCCL).
enum class ConstantSet { Nominal, Reported, Nccl };
constexpr auto enum_names(ConstantSet) {
  return std::array{Named{ConstantSet::Nominal, "nominal"},
                    Named{ConstantSet::Reported, "reported"}, Named{ConstantSet::Nccl, "nccl"}};
}

/// A machine, or several joined by a network: nodes and directed links. Built from probes
/// (assemble.hpp) or a system file (system_file.hpp); everything else is computed from it.
struct Graph {
  std::string name{};    ///< "dgx-1v", or the host's name
  std::string title{};   ///< for people
  std::string source{};  ///< where the facts are from
  /// Full names that the GPUs of such machines report; empty: the models of the nodes.
  std::vector<std::string> gpu_names{};
  std::vector<Node> nodes{};
  std::vector<Medium> media{};
  std::vector<Link> links{};
  /// GPUs in nvidia-smi's order, host by host; the processors of a machine without GPUs. Sets of
  /// devices are indices into this list.
  std::vector<int> devices{};
  /// [i][j] of devices i and j as `nvidia-smi topo -m` prints it: "X", "NV2", "PIX", "SYS"; "XGMI"
  /// between GPUs of AMD, "NET" between hosts. Filled by label_devices where no probe reported
  /// them.
  std::vector<std::vector<std::string>> labels{};
  /// [i][j]: device i reads and writes j's memory over PCIe. Empty where nothing is known.
  std::vector<std::vector<P2p>> p2p{};
  bool gpu_links_known =
      true;  ///< false: no source reports which GPUs are linked, or that none are
  std::vector<std::string> warnings{};  ///< one line each, for people
  std::vector<Assumption> assumptions{};
  Protocol protocol{};  ///< what software makes of the links
};

/// Nodes, media, links and devices have numbers from 0.
[[nodiscard]] constexpr std::size_t to_size(int number) { return static_cast<std::size_t>(number); }
/// These throw std::out_of_range for what the graph has not.
[[nodiscard]] inline const Node& node_of(const Graph& graph, int number) {
  return graph.nodes.at(to_size(number));
}
[[nodiscard]] inline const Medium& medium_of(const Graph& graph, const Link& link) {
  return graph.media.at(to_size(link.medium));
}
[[nodiscard]] inline LinkKind link_kind(const Graph& graph, const Link& link) {
  return medium_of(graph, link).kind;
}
/// The kind of links that the machine's GPUs have to each other, or by their models might have.
[[nodiscard]] LinkKind gpu_link_kind(const Graph& graph);
[[nodiscard]] inline std::size_t device_count(const Graph& graph) { return graph.devices.size(); }
/// Throws a usage error unless `index` is one of the `count` devices of the machine of this name.
void require_device(int index, std::size_t count, const std::string& machine);
/// The node of a device.
[[nodiscard]] inline const Node& device(const Graph& graph, int index) {
  return node_of(graph, graph.devices.at(to_size(index)));
}
/// [i][j] of n rows and columns, as `cell` has it.
template <class Cell>
[[nodiscard]] auto square_matrix(std::size_t n, const Cell& cell) {
  std::vector<std::vector<std::decay_t<decltype(cell(n, n))>>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i].push_back(cell(i, j));
  }
  return rows;
}
/// These devices in their order, host by host.
[[nodiscard]] std::map<int, std::vector<int>> by_host(const Graph& graph,
                                                      std::span<const int> devices);
/// Adds a node and returns its number.
int add_node(Graph& graph, Node node);
/// The medium of this name, added where it is new. What is there already stays as it is.
int add_medium(Graph& graph, Medium medium);
/// Adds both directions of `count` cables.
void add_cable(Graph& graph, int one, int other, int medium, double count = 1);
/// Adds an assumption, once.
void assume(Graph& graph, LinkKind kind, std::string text);
/// GB/s of a link in its direction under a set of constants with that many flows (0: enough to fill
/// it); infinity where nothing limits it.
[[nodiscard]] double capacity_GBps(const Graph& graph, const Link& link, ConstantSet constants,
                                   int flows = 0);
/// "X-Bus CPU0→CPU1", "NVLink 2 GPU0→GPU1": a link in words.
[[nodiscard]] std::string describe(const Graph& graph, const Link& link);
/// Links of GPUs between two nodes: direct ones, or the ports that both have at one switch.
[[nodiscard]] double gpu_links(const Graph& graph, int one, int other);
/// Fills `labels` from the links: gpu_link_label (direct, or the ports of a switch), PIX, PXB, PHB,
/// NODE, SYS, NET.
void label_devices(Graph& graph);
/// Takes nodes out, by number, with their links; none is a device.
void remove_nodes(Graph& graph, const std::set<int>& nodes);
/// The same machine with these of its devices only, in this order; all else stays.
[[nodiscard]] Graph keep_devices(Graph graph, const std::vector<int>& devices);
/// The node of this name, or -1.
[[nodiscard]] int find_node(const Graph& graph, const std::string& name);
/// The nodes of a kind, ascending.
[[nodiscard]] std::vector<int> nodes_of_kind(const Graph& graph, NodeKind kind);

/// The 32 hexadecimal digits of "GPU-5d4f...", in lower case: for comparing UUIDs of different
/// tools.
[[nodiscard]] std::string uuid_digits(std::string_view uuid);

/// "0000:06:00.0" of "00000000:06:00.0", "0:6:0.0", "06:00.0" and upper case; empty for what is no
/// PCI address.
[[nodiscard]] std::string normal_bus_id(const std::string& text);

/// Links of a way with the fewest hops between two nodes through the host's own parts (switches,
/// bridges, processors; never another GPU or NIC), listed from its end; empty where there is none.
[[nodiscard]] std::vector<const Link*> shortest_way(const Graph& graph, int from, int to);

/// The nearest node of a kind by hops, the lowest of several; -1 where none is reached.
[[nodiscard]] int nearest(const Graph& graph, int from, NodeKind kind);

}  // namespace busbar::topo
