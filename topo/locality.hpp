// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

struct hwloc_obj;
struct hwloc_topology;

namespace busbar::topo {

struct FreeTopology {
  void operator()(hwloc_topology* topology) const;
};
/// hwloc's topology.
using HwlocTopology = std::unique_ptr<hwloc_topology, FreeTopology>;

/// A topology that is not loaded yet; null where hwloc is out of memory. Keeps hwloc from printing
/// to stderr what is wrong with its input, unless the user has set HWLOC_HIDE_ERRORS: so the first
/// one is made while the process has one thread.
[[nodiscard]] HwlocTopology new_topology();
/// The same with devices, which treble the time that hwloc takes. No driver is started, but NVML's
/// where `nvml` says so.
[[nodiscard]] HwlocTopology new_topology_with_devices(bool nvml);

/// All objects of a type (hwloc_obj_type_t), by their logical numbers.
[[nodiscard]] std::vector<hwloc_obj*> all_of_type(const HwlocTopology& topology, int type);

/// Where a process may run, as hwloc sees it. Numbers of processors are the operating system's;
/// cores and NUMA nodes are numbered as `lstopo -l` numbers them.
struct Locality {
  std::vector<int> processors;  ///< that this process may run on, ascending
  bool bound = false;           ///< to less than the machine (or the container) allows
  std::optional<int> core;      ///< where the processors lie within one
  std::optional<int> numa;      ///< where the processors lie within one
};

/// The processors of a core, ascending.
using Core = std::vector<int>;

/// Which part of some cores a process wants.
struct CoreShare {
  int index = 0;
  int count = 1;  ///< of processes that divide the cores
  int least = 1;  ///< cores that each of them needs
};

/// The processors of the `index`-th of `count` even parts of the cores, or of all of them where a
/// part would have less than `least` cores. Pure.
[[nodiscard]] std::vector<int> share_of(const std::vector<Core>& cores, CoreShare share);

/// What the processes of a host are spread over.
enum class Spot { CpuCore, NumaNode };

/// The machine as hwloc sees it from this process.
class Machine {
 public:
  /// Throws Error (Runtime) where hwloc cannot look at the machine.
  Machine();

  [[nodiscard]] Locality locality() const;
  /// Sum over all last-level caches; 0 where unknown.
  [[nodiscard]] Bytes last_level_cache() const;
  [[nodiscard]] std::string processor_model() const;

  /// How many this process may use.
  [[nodiscard]] int count(Spot spot) const;

  /// Binds this process (all its threads) to a core or NUMA node for the `index`-th of `count`
  /// processes of this host: spread evenly while they fit, in turn when they do not. False where
  /// the operating system refuses.
  [[nodiscard]] bool bind_to(Spot spot, int index, int count) const;
  /// The cores near a PCI device (a GPU's or NIC's bus id, any spelling) that this machine allows,
  /// each with its processors; none where hwloc does not know the device.
  [[nodiscard]] std::vector<Core> cores_near(const std::string& bus_id) const;
  /// Binds this process to these processors. False where there are none or the operating system
  /// refuses.
  [[nodiscard]] bool bind_to_processors(const std::vector<int>& processors) const;

 private:
  [[nodiscard]] std::vector<hwloc_obj*> usable(Spot spot) const;
  HwlocTopology topology_ = new_topology();
};

}  // namespace busbar::topo
