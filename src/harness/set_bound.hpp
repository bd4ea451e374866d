// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/collective.hpp"

namespace busbar {

/// A row, as far as a bound depends on it.
struct BoundRow {
  const Collective* collective = nullptr;
  int ranks = 1;
  Bytes size = 0;  ///< Footprint::size
  bool in_place = false;
  std::uint64_t slots = 1;  ///< buffers that operations rotate through
};

/// What the ranks of a row run on, and how much that can carry. Whoever knows a kind of device
/// fills it: host_bound.hpp does for host memory.
struct SetBound {
  std::string device_set{};  ///< the column: "cores 0-1", "0,1,2,3"; hosts joined by ";"
  std::string kind{};        ///< the column: "host-memory", "nvlink"; empty where there is no bound
  std::string limit{};       ///< a fact of the file's head: what limits it, in words
  std::string note{};        ///< a line for people, of everything above; may be empty
  std::vector<std::string> warnings{};  ///< lines for people
  /// Highest bus bandwidth of a row in GB/s; nothing for a row that it does not hold for. Null:
  /// there is no bound.
  std::function<std::optional<double>(const BoundRow& row)> bus_GBps{};
};

/// The bound of this rank's team, or of a pair of its ranks. Called once for every sweep; not
/// collective.
using BoundSource = std::function<SetBound(const std::optional<Pair>& pair)>;

}  // namespace busbar
