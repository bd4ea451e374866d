// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/bounds/packing.hpp"

namespace busbar::topo {

/// Which paths a ring may take.
enum class Level {
  GpuLink,  ///< within a host NVLink or xGMI only; between hosts the network
  All       ///< those where a pair has them, else PCIe, or shared memory where peers are off
};

/// What a path is made of: the parts of Bound::kind, in that order.
enum class PathKind { NvLink, Xgmi, NvSwitch, Smp, Pcie, SharedMemory, Network };
constexpr auto enum_names(PathKind) {
  return std::array{
      Named{PathKind::NvLink, "nvlink"},     Named{PathKind::Xgmi, "xgmi"},
      Named{PathKind::NvSwitch, "nvswitch"}, Named{PathKind::Smp, "smp"},
      Named{PathKind::Pcie, "pcie"},         Named{PathKind::SharedMemory, "shared memory"},
      Named{PathKind::Network, "network"}};
}
using PathKinds = std::set<PathKind>;
/// "nvlink", "nvlink+smp", "xgmi+pcie"; "none" for no path.
[[nodiscard]] std::string describe(const PathKinds& kinds);

/// The one best path of an ordered pair of devices.
struct Path {
  std::vector<Use> uses{};  ///< resources are indices of Graph::links, in order
  PathKinds kinds{};
};

/// Best paths between some devices of a graph, found once for many sets.
class PathTable {
 public:
  PathTable(const Graph& graph, std::span<const int> devices, Level level,
            const BoundOptions& options);

  [[nodiscard]] std::size_t links() const { return capacity_.size(); }
  /// Between the devices at these places of the list; nothing where there is no path.
  [[nodiscard]] const std::optional<Path>& between(int from, int to) const {
    return paths_[to_size(from) * devices_.size() + to_size(to)];
  }
  /// GB/s of a link; infinite where nothing limits it.
  [[nodiscard]] double capacity_GBps(int link) const { return capacity_[to_size(link)]; }

 private:
  std::vector<int> devices_;
  std::vector<double> capacity_;
  std::vector<std::optional<Path>> paths_;
};

/// Links between these devices and the networks beyond their adapters, both ways: of each device
/// the path that its rings take to another host.
[[nodiscard]] std::vector<int> network_links(const Graph& graph, std::span<const int> devices,
                                             const BoundOptions& options);

/// The level at which the bound of a graph begins: All where no GPU has NVLink or xGMI.
[[nodiscard]] Level first_level(const Graph& graph);

/// The packing of rings through some devices of a table, and the link behind each resource. Links
/// without a limit are left out.
struct LinkProblem {
  RingProblem rings{};
  std::vector<int> links{};
};
[[nodiscard]] LinkProblem problem_of(const PathTable& table, std::span<const int> places);

}  // namespace busbar::topo
