// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topo/bounds/host_limits.hpp"
#include "topo/choice/choose.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {

/// Some of the devices of one host.
struct HostPart {
  int host = 0;
  std::vector<int> devices{};  ///< in the host's own numbers, from 0

  [[nodiscard]] bool operator==(const HostPart&) const = default;
};

/// Where ranks run, host by host.
struct RankSet {
  std::vector<HostPart> parts{};
  int ranks = 0;
  std::string reason{};  ///< why these

  /// "0,1,2,3": the numbers on a host; hosts that differ are joined by ";".
  [[nodiscard]] std::string to_text() const;
};

/// The hosts of a machine. Of equal ones two are built, which stand for all: a ring enters and
/// leaves each host alike, so that the limits of any two hold for every number of them.
class Cluster {
 public:
  explicit Cluster(const EqualHosts& machine);

  [[nodiscard]] int hosts() const { return hosts_; }
  [[nodiscard]] std::size_t devices() const;
  /// One host, two equal hosts, or all hosts of a file that names them itself.
  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// The same machine with other rates of the same media.
  [[nodiscard]] Cluster with_media(std::vector<Medium> media) const;
  /// Indices in graph().devices of a part; `second`: where the first of the equal hosts is taken.
  [[nodiscard]] std::vector<int> indices(const HostPart& part, bool second = false) const;
  /// True where hosts are copies, so that parts with the same devices are alike.
  [[nodiscard]] bool equal_hosts() const { return equal_; }

  /// Ranks fill one host after the other; a policy chooses within each. A list names devices of all
  /// hosts, and as many as there are ranks. Throws Error (Usage) where they do not fit.
  [[nodiscard]] RankSet place(int ranks, const Selection& selection,
                              const BoundOptions& options) const;

 private:
  [[nodiscard]] const std::vector<int>& devices_of(int host, bool second = false) const;
  [[nodiscard]] std::size_t on_host(int host) const { return devices_of(host).size(); }
  [[nodiscard]] std::vector<int> chosen(int host, std::size_t count, const Selection& selection,
                                        const BoundOptions& options, std::string& reason) const;
  [[nodiscard]] RankSet place_list(int ranks, const Selection& selection) const;

  Graph graph_{};
  int hosts_ = 1;
  bool equal_ = false;
  std::vector<std::vector<int>> by_host_{};  ///< indices of devices
};

/// Limits of these ranks. Two hosts together are computed exactly up to 16 devices; beyond, as the
/// least of each host's own ring and of the bandwidth of its network cards.
[[nodiscard]] SetLimits limits_of(const Cluster& cluster, const RankSet& set,
                                  const BoundOptions& options);

}  // namespace busbar::topo
