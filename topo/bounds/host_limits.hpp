// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/bounds/packing.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// Bandwidths of a set of ranks, in GB/s per direction: everything that the times of collectives
/// depend on beside their size.
struct SetLimits {
  int ranks = 0;
  int hosts = 0;                 ///< that a network joins; hosts of one NVLink domain are one
  int most_on_host = 0;          ///< ranks
  double ring_GBps = kInfinity;  ///< through all ranks
  /// The least of the rings within a host; infinite if each has one rank.
  double host_GBps = kInfinity;
  double network_GBps = kInfinity;  ///< in or out of a host, the least
  double in_switch_GBps = 0;  ///< bus bandwidth within a host whose switch adds; 0 where none does
  bool exact = true;
  std::string kind{};                  ///< as Bound::kind
  std::string limit{};                 ///< of ring_GBps, as Bound::limit
  std::string host_limit{};            ///< of host_GBps
  std::string network_limit{};         ///< of network_GBps
  LinkKind within = LinkKind::NvLink;  ///< the slowest that a step in a host goes over; xGMI too
};

/// Takes a ring through all ranks where it is narrower.
void take_ring(SetLimits& limits, double GBps, const std::string& kind, const std::string& limit);

/// Adds a host with these devices of the set.
void add_host(const Graph& graph, std::span<const int> devices, const BoundOptions& options,
              SetLimits& limits);

/// What devices of one host exchange with other hosts at most, each way: the least cut between them
/// and the networks, of the paths that their rings take.
struct NetworkCut {
  double GBps = 0;           ///< 0 where no network is reached
  std::vector<int> links{};  ///< that are cut
  std::vector<int> paths{};  ///< all links of the paths
};
[[nodiscard]] NetworkCut network_cut(const Graph& graph, std::span<const int> devices,
                                     const BoundOptions& options);

/// Adds the networks of the hosts, each a list of devices; returns what each host has.
std::vector<NetworkCut> add_networks(const Graph& graph, std::span<const std::vector<int>> hosts,
                                     const BoundOptions& options, SetLimits& limits);

/// What every host exchanges with others in an all-reduce, in seconds for a GB of the size: each
/// but its own share, out and back. Nothing where no network joins the hosts.
[[nodiscard]] std::optional<double> between_hosts_seconds(const SetLimits& limits);

/// An all-reduce by trees between hosts and, within them, chains up and down at the same time: each
/// GPU passes the size on twice. Nothing where there is none.
[[nodiscard]] std::optional<double> chain_tree_seconds(const SetLimits& limits);

/// The same where the switches of the hosts add.
[[nodiscard]] std::optional<double> switch_tree_seconds(const SetLimits& limits);

/// Bus bandwidth of an all-reduce by the quicker of the two.
[[nodiscard]] std::optional<double> tree_GBps(const SetLimits& limits);

}  // namespace busbar::topo
