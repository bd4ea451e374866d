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

/// What a path is made of, as bits: the parts of Bound::kind.
enum class PathKind : unsigned {
  None = 0,
  NvLink = 1,
  Xgmi = 2,
  NvSwitch = 4,
  Smp = 8,
  Pcie = 16,
  SharedMemory = 32,
  Network = 64
};

[[nodiscard]] constexpr PathKind operator|(PathKind a, PathKind b) {
  return static_cast<PathKind>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(PathKind kinds, PathKind one) {
  return (static_cast<unsigned>(kinds) & static_cast<unsigned>(one)) != 0;
}
/// "nvlink", "nvlink+smp", "xgmi+pcie"; "none" for no path.
[[nodiscard]] std::string describe(PathKind kinds);

/// The one best path of an ordered pair of devices.
struct Path {
  std::vector<Use> uses{};  ///< resources are indices of Graph::links, in order
  PathKind kinds = PathKind::None;
};

/// Best paths between some devices of a graph, found once for many sets.
class PathTable {
 public:
  PathTable(const Graph& graph, std::span<const int> devices, Level level,
            const BoundOptions& options);

  /// Links of the graph.
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
