// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace busbar::topo {

/// Where a process may run, as hwloc sees it. Numbers of processors are the operating system's;
/// cores and NUMA nodes are numbered as `lstopo -l` numbers them.
struct Locality {
  std::vector<int> processors;  ///< that this process may run on, ascending
  bool bound = false;           ///< to less than the machine (or the container) allows
  std::optional<int> core;      ///< where the processors lie within one
  std::optional<int> numa;      ///< where the processors lie within one
};

/// The machine as hwloc sees it from this process. Move-free RAII around hwloc's topology.
class Machine {
 public:
  /// Throws Error (Runtime) where hwloc cannot look at the machine.
  Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  [[nodiscard]] Locality locality() const;
  /// Sum over all last-level caches; 0 where unknown.
  [[nodiscard]] Bytes last_level_cache() const;
  [[nodiscard]] std::string processor_model() const;

  /// How many this process may use.
  [[nodiscard]] int cores() const;
  [[nodiscard]] int numa_nodes() const;

  /// Binds this process (all its threads) to a core or NUMA node for the `index`-th of `count`
  /// processes of this host: spread evenly while they fit, in turn when they do not. False where
  /// the operating system refuses.
  [[nodiscard]] bool bind_to_core(int index, int count) const;
  [[nodiscard]] bool bind_to_numa(int index, int count) const;
  /// Binds this process to the cores near a PCI device (a GPU's or NIC's bus id, any spelling): the
  /// `index`-th of `count` processes of this host that share them gets its even part, or one core
  /// in turn where there are more processes than cores. False where hwloc does not know the device,
  /// no allowed core is near it, or the operating system refuses.
  [[nodiscard]] bool bind_near(const std::string& bus_id, int index, int count) const;

 private:
  struct Implementation;
  [[nodiscard]] bool bind_to(int type, int index, int count) const;
  Implementation* implementation_;
};

/// Keeps hwloc from printing to stderr what is wrong with its input, unless the user has set
/// HWLOC_HIDE_ERRORS. Before hwloc's first use in the process, and while there is one thread.
void hide_hwloc_errors();

/// "0-3,8": ascending numbers as ranges.
[[nodiscard]] std::string format_ranges(const std::vector<int>& numbers);

}  // namespace busbar::topo
