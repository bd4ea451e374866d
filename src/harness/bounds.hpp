// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/host_topology.hpp"
#include "harness/memory_bandwidth.hpp"
#include "model/backend.hpp"
#include "model/collective.hpp"

namespace busbar {

struct Job;

/// A row, as far as a bound depends on it.
struct BoundRow {
  const Collective* collective = nullptr;
  int ranks = 1;
  Bytes size = 0;  ///< Footprint::size
  bool in_place = false;
  std::uint64_t slots = 1;           ///< buffers that operations rotate through
  const Traffic* traffic = nullptr;  ///< only where parts are not equal
};

/// What the ranks of a row run on, and its highest bandwidth.
struct SetBound {
  std::string device_set{};  ///< the column: "cores 0-1", "0,1,2,3"; hosts joined by ";"
  std::string kind{};        ///< the column: "host-memory", "nvlink"; empty where there is no bound
  std::string limit{};       ///< a fact of the file's head: what limits it
  std::string note{};        ///< a line for people, of everything above; may be empty
  std::vector<std::string> warnings{};  ///< lines for people
  /// Highest bus bandwidth of a row in GB/s; nothing for a row that it does not hold for. Null:
  /// there is no bound.
  std::function<std::optional<double>(const BoundRow& row)> bus_GBps{};
};

/// Highest bus bandwidth of a collective in the memory of one host, in GB/s: its bus factor times
/// its size over the time that all ranks need for its minimum traffic when they share it evenly,
///   (copied / copy rate + reduced / reduce rate) / ranks,
/// so 2 / (1/copy + 1/reduce) for an all-reduce. Nothing for one rank, and where nothing was
/// measured.
[[nodiscard]] std::optional<double> host_bound_GBps(const HostBandwidth& bandwidth,
                                                    const BoundRow& row);

/// The bound of a host's memory as it was measured, in words and numbers. `last_level_cache` is the
/// host's.
[[nodiscard]] SetBound host_bound(const std::string& device_set, int ranks, Bytes last_level_cache,
                                  const Collective& collective, const HostBandwidth& bandwidth);

/// The bound of these devices of one host (none twice): the ring bound of topo::bound_of for
/// collectives whose ring is the best schedule, what the switch adds (NVLS) for all-reduce, a
/// switch's port for the others, nothing where neither holds. `all_here` is false where more hosts
/// take part: the network between them is not known.
[[nodiscard]] SetBound device_bound(const HostTopology& topology, std::span<const Device> devices,
                                    bool all_here, const Collective& collective);

/// The bound of these ranks of the job: host memory is measured (--host-limits) where they are all,
/// what GPUs allow is computed from their host's topology. Collective over the job.
[[nodiscard]] SetBound find_bound(const Job& job, Communicator& communicator,
                                  const std::vector<int>& ranks);

}  // namespace busbar
