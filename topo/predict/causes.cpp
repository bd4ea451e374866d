// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/causes.hpp"

#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {
namespace {

/// Halves the rates of these kinds of links; false where there is none.
template <LinkKind... kinds>
bool half(EqualHosts& machine, int /*ranks*/) {
  bool found = false;
  for (Medium& medium : machine.host.media) {
    if (((medium.kind != kinds) && ...)) continue;
    found = true;
    medium.nominal_GBps /= 2;
    medium.flow_GBps /= 2;
  }
  return found;
}

bool is_joined_by_network(const EqualHosts& machine, int ranks) {
  return ranks > static_cast<int>(device_count(machine.host)) &&
         !nodes_of_kind(machine.host, NodeKind::Network).empty();
}

/// Leaves of the NICs those for which `stays` holds.
template <class Predicate>
bool keep_nics(Graph& graph, const Predicate& stays) {
  std::set<int> lost;
  int number = 0;
  for (const int nic : nodes_of_kind(graph, NodeKind::Nic)) {
    if (!stays(node_of(graph, nic), number++)) lost.insert(nic);
  }
  return std::erase_if(graph.links, [&](const Link& link) {
           return lost.contains(link.from) || lost.contains(link.to);
         }) > 0;
}

bool without_nvls(EqualHosts& machine, int /*ranks*/) {
  bool found = false;
  for (Node& node : machine.host.nodes) {
    found = found || node.reduces;
    node.reduces = false;
  }
  return found;
}

bool without_gpu_links(EqualHosts& machine, int /*ranks*/) {
  const Graph& host = machine.host;
  return std::erase_if(machine.host.links,
                       [&](const Link& link) { return is_gpu_link(link_kind(host, link)); }) > 0;
}

bool without_p2p(EqualHosts& machine, int ranks) {
  const std::size_t count = device_count(machine.host);
  without_gpu_links(machine, ranks);
  machine.host.p2p.assign(count, std::vector<P2p>(count, P2p::Off));
  return count > 1;
}

bool one_nic(EqualHosts& machine, int ranks) {
  return is_joined_by_network(machine, ranks) &&
         keep_nics(machine.host, [](const Node& /*nic*/, int number) { return number == 0; });
}

bool nics_of_one_numa_node(EqualHosts& machine, int ranks) {
  const std::vector<int> nics = nodes_of_kind(machine.host, NodeKind::Nic);
  if (nics.empty() || !is_joined_by_network(machine, ranks)) return false;
  const int numa = node_of(machine.host, nics.front()).numa;
  return keep_nics(machine.host, [&](const Node& nic, int /*number*/) { return nic.numa == numa; });
}

bool every_other_nic(EqualHosts& machine, int ranks) {
  return nodes_of_kind(machine.host, NodeKind::Nic).size() > 1 &&
         is_joined_by_network(machine, ranks) &&
         keep_nics(machine.host, [](const Node& /*nic*/, int number) { return number % 2 == 0; });
}

bool half_network(EqualHosts& machine, int ranks) {
  return is_joined_by_network(machine, ranks) && half<LinkKind::Network>(machine, ranks);
}

/// Leaves what rings reach of the network: a share of its rate in percent, at most that many GB/s
/// of each NIC.
template <int percent, int most_GBps = 1 << 20>
bool network_share(EqualHosts& machine, int ranks) {
  for (Medium& medium : machine.host.media) {
    if (medium.kind != LinkKind::Network) continue;
    medium.nominal_GBps = std::min(percent / 100.0 * medium.nominal_GBps, 1.0 * most_GBps);
    medium.flow_GBps *= std::exchange(medium.efficiency, 1);
  }
  return is_joined_by_network(machine, ranks);
}

/// The same between GPUs and NICs.
template <int percent>
bool gpu_network_share(EqualHosts& machine, int ranks) {
  return !nodes_of_kind(machine.host, NodeKind::Gpu).empty() &&
         network_share<percent>(machine, ranks);
}

/// What ACS sends to the processor first: between GPU and NIC, and on one host between GPUs without
/// links of their own.
template <int percent>
bool by_processor(EqualHosts& machine, int ranks) {
  if (is_joined_by_network(machine, ranks)) return gpu_network_share<percent>(machine, ranks);
  const bool has_gpu_links = std::ranges::any_of(
      machine.host.media, [](const Medium& medium) { return is_gpu_link(medium.kind); });
  return !has_gpu_links && half<LinkKind::Pcie>(machine, ranks);
}

/// Each host's switches are its own; the network joins the hosts.
bool without_domain(EqualHosts& machine, int ranks) {
  return leave_domain(machine.host) && is_joined_by_network(machine, ranks);
}

bool without_domain_by_one_nic(EqualHosts& machine, int ranks) {
  return without_domain(machine, ranks) && one_nic(machine, ranks);
}

/// Within a frequency the commonest first.
constexpr std::array kCauses{
    Cause{.id = "nvls-off",
          .text = "NVLS is not used: rings instead of reduction in the switch",
          .confirm = "--nccl-choice, or NCCL_DEBUG=INFO: \"nvls channels\"; nvidia-smi -q: Fabric",
          .frequency = Frequency::Common,
          .apply = without_nvls},
    // 6 of 12.5 GB/s (NVIDIA/nccl#465), 16 of 25 (#412).
    Cause{.id = "gdr-off",
          .text = "GPUDirect RDMA is not used: traffic is staged through host memory",
          .confirm = "NCCL_DEBUG=INFO: \"GDRDMA\" is missing; lsmod: nvidia_peermem, or DMA-BUF; "
                     "NCCL_NET_GDR_LEVEL unset",
          .frequency = Frequency::Common,
          .apply = gpu_network_share<64>,
          .apply_worst = gpu_network_share<48>},
    // 9.84 of 25 GB/s (NVIDIA/nccl-tests#112), 13.1 of 50 (NVIDIA/nccl#2409), at best half.
    Cause{.id = "acs",
          .text = "PCIe ACS or a translating IOMMU sends traffic of GPUs through the processor",
          .confirm = "lspci -vv: ACSCtl: SrcValid+, ReqRedir+; dmesg: IOMMU; iommu=pt",
          .frequency = Frequency::Common,
          .apply = by_processor<50>,
          .apply_worst = by_processor<26>},
    Cause{.id = "half-nics",
          .text = "half of the NICs are used, such as 4 of 8",
          .confirm = "NCCL_DEBUG=INFO: \"NET/IB : Using\"; NCCL_IB_HCA; ls /sys/class/infiniband "
                     "in the container",
          .frequency = Frequency::Common,
          .apply = every_other_nic},
    Cause{.id = "half-network",
          .text = "half the rate of each NIC",
          .confirm = "cat /sys/class/infiniband/*/ports/1/rate; ib_write_bw",
          .frequency = Frequency::Common,
          .apply = half_network},
    // Of 32 Gb/s at most 0.60 (NVIDIA/nccl#209), of 12.5 GB/s 4 to 6 (#450).
    Cause{.id = "tcp",
          .text = "TCP instead of RDMA, as without the network's plugin (OFI for EFA)",
          .confirm =
              R"(NCCL_DEBUG=INFO: "NET/Socket", "NET/Plugin"; NCCL_IB_DISABLE unset; ibv_devinfo)",
          .frequency = Frequency::Common,
          .apply = network_share<60, 6>,
          .apply_worst = network_share<32, 4>},
    Cause{.id = "no-p2p",
          .text = "shared host memory instead of peer access between GPUs",
          .confirm = "nvidia-smi topo -p2p r; NCCL_DEBUG=INFO: \"via SHM\"; NCCL_P2P_DISABLE unset",
          .frequency = Frequency::Common,
          .apply = without_p2p},
    Cause{.id = "no-domain",
          .text = "the NVLink domain does not join the hosts, the network does",
          .confirm = "NCCL_DEBUG=INFO: \"MNNVL\"; nvidia-smi -q: Fabric, ClusterUUID, CliqueId; "
                     "NCCL_MNNVL_ENABLE unset",
          .frequency = Frequency::Common,
          .apply = without_domain},
    Cause{.id = "one-rail",
          .text = "all traffic goes through one NIC",
          .confirm = "NCCL_DEBUG=INFO: \"NET/IB\" lines; NCCL_IB_HCA; rdma link",
          .apply = one_nic},
    // One port of a bond of two (NVIDIA/nccl#1015), 284 of 392 Gb/s (#2409).
    Cause{.id = "one-qp",
          .text = "one queue pair on each connection: flows share a port or collide",
          .confirm = "NCCL_IB_QPS_PER_CONNECTION=4, NCCL_IB_SPLIT_DATA_ON_QPS=1; ib_write_bw -q 1 "
                     "and -q 4",
          .apply = network_share<58>,
          .apply_worst = network_share<40>},
    Cause{.id = "one-numa-nics",
          .text = "only the NICs of one NUMA node are used, or ranks run on the wrong one",
          .confirm = "nvidia-smi topo -m; NCCL_DEBUG=INFO: \"NET/IB\" lines; numactl -s of a rank",
          .apply = nics_of_one_numa_node},
    Cause{.id = "no-gpu-links",
          .text = "PCIe instead of NVLink or xGMI",
          .confirm = "nvidia-smi topo -m; NCCL_DEBUG=INFO: \"via P2P\"; NCCL_P2P_LEVEL unset",
          .apply = without_gpu_links},
    Cause{.id = "no-domain-one-rail",
          .text = "the network joins the hosts instead of the NVLink domain, by one NIC",
          .confirm = "as for the domain; NCCL_DEBUG=INFO: \"NET/IB\" lines; NCCL_IB_HCA",
          .apply = without_domain_by_one_nic},
    Cause{.id = "half-pcie",
          .text = "PCIe at half its width or generation",
          .confirm =
              "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current; lspci -vv",
          .is_fault = true,
          .apply = half<LinkKind::Pcie>},
    Cause{.id = "half-gpu-links",
          .text = "half of the links between GPUs are down",
          .confirm = "nvidia-smi nvlink -s; amd-smi xgmi",
          .frequency = Frequency::Rare,
          .is_fault = true,
          .apply = half<LinkKind::NvLink, LinkKind::Xgmi>},
};

std::optional<double> bandwidth_of(const EqualHosts& machine, const PredictOptions& options,
                                   const Collective& collective, double bytes) {
  const auto prediction = Predictor(machine, options).predict(collective, bytes);
  if (!prediction || prediction->time_us <= 0) return std::nullopt;
  return bytes / prediction->time_us / 1e3 * collective.bus_factor(options.ranks);
}

/// The machine with another efficiency of its network, where that is not known.
EqualHosts with_network_efficiency(EqualHosts machine, int ranks, double efficiency) {
  const bool is_usual = has_usual_network(machine, ranks);
  for (Medium& medium : machine.host.media) {
    if (medium.kind != LinkKind::Network || medium.efficiency > 0) continue;
    medium.efficiency = is_usual ? efficiency : completed(machine.host.protocol).efficiency;
  }
  return machine;
}

}  // namespace

std::span<const Cause> known_causes() { return kCauses; }

int rank_of(const Cause& cause, int nodes) {
  return static_cast<int>(cause.frequency) + (cause.is_fault && nodes > 1 ? 1 : 0);
}

bool has_usual_network(const EqualHosts& machine, int ranks) {
  return is_joined_by_network(machine, ranks) && machine.host.protocol.efficiency <= 0 &&
         std::ranges::none_of(machine.host.media, [](const Medium& medium) {
           return medium.kind == LinkKind::Network && medium.efficiency > 0;
         });
}

std::optional<BandwidthRange> bandwidth_under(const Cause& cause, const EqualHosts& machine,
                                              const PredictOptions& options,
                                              const Collective& collective, double bytes) {
  constexpr double kLeastDifference = 0.02;
  const EqualHosts least = with_network_efficiency(machine, options.ranks, kLeastOfNetwork);
  EqualHosts best = with_network_efficiency(machine, options.ranks, kMostOfNetwork);
  if (!cause.apply(best, options.ranks)) return std::nullopt;
  EqualHosts worst = least;
  const auto apply_worst = cause.apply_worst == nullptr ? cause.apply : cause.apply_worst;
  static_cast<void>(apply_worst(worst, options.ranks));
  const auto healthy = bandwidth_of(least, options, collective, bytes);
  const auto quickest = bandwidth_of(best, options, collective, bytes);
  const auto slowest = bandwidth_of(worst, options, collective, bytes);
  if (!healthy || !quickest || !slowest) return std::nullopt;
  if (*slowest > *healthy * (1 - kLeastDifference)) return std::nullopt;
  PredictOptions by_ring = options;
  by_ring.algorithm = Algorithm::Ring;
  const double ring = bandwidth_of(worst, by_ring, collective, bytes).value_or(*slowest);
  return BandwidthRange{.low = std::min(ring, *slowest), .high = *quickest};
}

}  // namespace busbar::topo
