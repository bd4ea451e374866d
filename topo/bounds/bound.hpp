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

/// What a set of devices can carry: bus bandwidth in GB/s, per direction.
struct Bound {
  std::vector<int> devices{};  ///< as asked for
  /// The best fractional packing of directed rings over NVLink (between hosts: with the network);
  /// of all links where the machine has no NVLink between GPUs. 0 where no such ring closes.
  double ring_GBps = 0;
  /// Minimum over cuts through the set of what crosses it in one direction, of the same links as
  /// bound_GBps.
  double cut_GBps = 0;
  /// ring_GBps; where that is 0, the packing with PCIe and shared memory admitted: an upper bound.
  double bound_GBps = 0;
  double lower_GBps = 0;  ///< what the rings below reach: bound_GBps where exact
  bool exact = true;      ///< false: the truth lies within [lower_GBps, bound_GBps]
  /// nvlink, nvswitch, nvlink+smp (through processors), pcie, shared memory, network, or several
  /// joined by "+" where the rings mix them; "none" for fewer than two devices.
  std::string kind{};
  std::string
      limit{};  ///< what limits it, in words: "X-Bus CPU0→CPU1"; from the dual of the packing
  /// All-reduce with reduction in the switch (NVLS), where the GPUs and their switch can:
  /// 2b(n-1)/(n+1).
  std::optional<double> in_switch_GBps{};
  /// All-reduce by trees where the set spans hosts: cut_GBps times 2(n-1)/n, which a ring cannot
  /// reach.
  std::optional<double> tree_GBps{};
  std::vector<RatedRing> rings{};  ///< the packing
  /// What the figures rest on though no source reports it. Not empty: they are estimates, and the
  /// machine may carry more or less.
  std::vector<std::string> assumptions{};
};

/// The most bus bandwidth of a collective ("allreduce") on the set, in GB/s: by rings, and for
/// all-reduce by trees and additions in the switch. All-to-all and the other collectives that are
/// no ring pass each port of a switch once; a mesh would need paths of its own, so there is no
/// figure.
[[nodiscard]] std::optional<double> collective_GBps(const Bound& bound,
                                                    std::string_view collective);

/// Exact to 16 devices and for switched domains of any size; beyond, an interval unless its ends
/// meet. Throws Error (Usage) for an index that is no device or twice there.
[[nodiscard]] Bound bound_of(const Graph& graph, std::span<const int> devices,
                             const BoundOptions& options = {});

}  // namespace busbar::topo
