// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

struct BoundOptions {
  ConstantSet constants = ConstantSet::Nominal;
  int flows = 0;  ///< connections between two hosts; 0: as many as fill the network
};

/// A ring through all devices of a set and the bandwidth it has of the whole.
struct RatedRing {
  std::vector<int> devices;  ///< in order; the last is followed by the first
  double GBps = 0;
};

/// The bandwidth of a set of devices: bus bandwidth in GB/s, per direction.
struct Bound {
  std::vector<int> devices{};  ///< as asked for
  /// The best fractional packing of directed rings over NVLink or xGMI (between hosts: with the
  /// network); of all links where the machine has none between GPUs. 0 where no such ring closes.
  double ring_GBps = 0;
  /// Minimum over cuts through the set of what crosses it in one direction, of the same links as
  /// bound_GBps.
  double cut_GBps = 0;
  /// ring_GBps; where that is 0, the packing with PCIe and shared memory admitted: an upper bound.
  double bound_GBps = 0;
  double lower_GBps = 0;  ///< what the rings below reach: bound_GBps where exact
  bool exact = true;      ///< false: the truth lies within [lower_GBps, bound_GBps]
  /// nvlink, xgmi, nvswitch, nvlink+smp (through processors), pcie, shared memory, network, or
  /// several joined by "+" where the rings mix them; "none" for fewer than two devices.
  std::string kind{};
  LinkKind gpu_link = LinkKind::NvLink;  ///< what the machine's GPUs have to each other
  std::string limit{};  ///< what limits it: "X-Bus CPU0→CPU1"; from the dual of the packing
  /// All-reduce with reduction in the switch (NVLS), where the GPUs and their switch can:
  /// 2b(n-1)/(n+1).
  std::optional<double> in_switch_GBps{};
  /// All-reduce by trees where the set spans hosts: tree_GBps of host_limits.hpp.
  std::optional<double> tree_GBps{};
  /// All-to-all where the set spans hosts: by the path of each host to the network.
  std::optional<double> alltoall_GBps{};
  std::vector<RatedRing> rings{};  ///< the packing
  /// What the figures rest on though no source reports it. Not empty: they are estimates, and the
  /// machine may have more or less.
  std::vector<std::string> assumptions{};
};

/// The most bus bandwidth of a collective ("allreduce") on the set, in GB/s: by rings, and for
/// all-reduce by trees and additions in the switch. All-to-all and the other collectives that are
/// no ring pass each port of a switch once; all-to-all between hosts passes their networks. A mesh
/// would need paths of its own, so there is no figure.
[[nodiscard]] std::optional<double> collective_GBps(const Bound& bound,
                                                    std::string_view collective);

/// Exact to 16 devices and for switched domains of any size; beyond, an interval unless its ends
/// meet. Throws Error (Usage) for an index that is not a device or appears twice.
[[nodiscard]] Bound bound_of(const Graph& graph, std::span<const int> devices,
                             const BoundOptions& options = {});

/// One direction of a link, for flows. Node numbers are any numbers from 0.
struct FlowLink {
  int from = 0;
  int to = 0;
  double capacity = 0;  ///< may be infinite
};

/// What crosses from one part of the terminals to the other.
struct Cut {
  double value = 0;          ///< sum over `links`; infinite where no limited cut exists
  std::vector<int> links{};  ///< places in the list of links; empty where `value` is infinite
};

/// The least cut in one direction that parts the terminals (at least two, all different), by
/// maximum flow between the first and each other one, both ways: no algorithm passes it.
[[nodiscard]] Cut minimum_cut(std::span<const FlowLink> links, std::span<const int> terminals);

/// All-reduce where a switch adds: 2b(n - 1)/(n + 1), because a device sends its whole buffer for
/// the others' sums, and its own share of the sums once for all.
[[nodiscard]] double in_switch_GBps(double port_GBps, double ranks);

/// Devices that all hang on the same NVSwitches.
struct SwitchedDomain {
  double port_GBps = 0;          ///< of the narrowest device, per direction: what any ring reaches
  std::vector<int> narrowest{};  ///< links of the devices that are so narrow
  std::vector<int> links{};      ///< of all ports of the set
  /// All-reduce with reduction in the switches, where all of them can.
  std::optional<double> in_switch_GBps{};
};

/// Nothing where a device has no port, or also NVLink straight to another, or where several
/// switches are joined to the devices so unevenly that the closed form is no longer exact. Every
/// ring takes each device's port once in each direction, and one ring at the narrowest port's rate
/// does that for any number of devices.
[[nodiscard]] std::optional<SwitchedDomain> switched_domain(const Graph& graph,
                                                            std::span<const int> devices,
                                                            const BoundOptions& options);

}  // namespace busbar::topo
