// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bitset>
#include <span>
#include <string>
#include <vector>

#include "base/host.hpp"
#include "base/units.hpp"
#include "harness/options.hpp"
#include "model/backend.hpp"
#include "model/bootstrap.hpp"
#include "topo/choice/choose.hpp"
#include "topo/locality.hpp"

namespace busbar {

/// What every rank knows of every other: where it runs and what its host has. Plain data, as it is
/// sent between ranks.
struct RankInfo {
  std::array<char, 64> host{};
  std::array<char, 64> processor_model{};
  BootId boot_id{};
  int kernel = 0;  ///< its host's number, by their lowest ranks; a node of MPI may be a part of one
  int node = 0;
  int pid = 0;
  int core = -1;  ///< -1 where the rank is not bound within one
  int numa = -1;
  int processors = 1;  ///< that the rank may run on
  int bound_by_us = 0;
  double processor_quota = 0;          ///< 0: no limit
  Bytes memory_available = 0;          ///< on its host, before any buffer
  Bytes last_level_cache = 0;          ///< of its host
  std::bitset<1024> processor_mask{};  ///< that it might run on before it was bound
};

/// Where all ranks run, and what follows from it for all; the same on every rank.
struct RankMap {
  std::vector<RankInfo> ranks{};
  int hosts = 1;  ///< kernels
  int most_ranks_per_host = 1;
  Bytes least_memory = 0;  ///< available per rank on the host that has least, as 1/ranks of it
  Bytes largest_cache = 0;
  double processors = 1;           ///< that the ranks of the smallest host have together
  bool oversubscribed = false;     ///< some host has more ranks than processors for them
  std::string oversubscription{};  ///< "16 ranks on 2 processors of host vm"
};

/// Binds this rank as asked, then gathers what all ranks have. `near` is the PCI address of this
/// rank's device; empty: host memory. There `devices` are cores (NUMA nodes with Bind::Numa) that
/// the ranks of a host take; best: spread over the host, worst: on as few of its NUMA nodes as they
/// fit, prefix: the first. Throws Error (Usage) on all ranks for cores that a host has not.
/// Collective.
[[nodiscard]] RankMap map_ranks(Bootstrap& bootstrap, Bind bind, const std::string& near = {},
                                const std::optional<topo::Selection>& devices = {});

/// What the ranks exchange before they bind themselves. Plain data, as it is sent between ranks.
struct Neighbour {
  BootId boot_id{};
  int first_near = -1;  ///< first processor near its device; -1: it does not bind itself near one
  int cores_near = 0;   ///< with the first processor it identifies a set of near cores

  [[nodiscard]] bool operator==(const Neighbour&) const = default;
};

/// The part of the cores near its device that `rank` takes: an even one among the ranks near the
/// same cores of its host. A rank that a GPU's library gives threads of its own needs two cores,
/// four where the job spans several hosts and they drive the network, too. Pure.
[[nodiscard]] topo::CoreShare share_of_near_cores(const std::vector<Neighbour>& ranks, int rank);

/// Names the first rank that may run on fewer than two processors, or empty. Pure.
[[nodiscard]] std::string short_of_processors(const RankMap& rank_map);

/// The number of the core or NUMA node of `places` for the `index`-th of `count` ranks of a host;
/// nothing where the request names one that is not there. Pure.
[[nodiscard]] std::optional<int> place_of(const topo::Selection& request, int index, int count,
                                          int places);

/// What follows from where ranks run; also numbers their kernels. Pure.
[[nodiscard]] RankMap summarize_ranks(std::vector<RankInfo> ranks);

/// What ranks run on, host by host: "cores 0-1", or "numa 0-1" where a rank is bound to no core, or
/// "processors 0-7" where one is bound to nothing; GPU indices "0,1,2,3" where there are `devices`
/// (of all ranks). Hosts that differ are joined by ";".
[[nodiscard]] std::string device_set(const RankMap& rank_map, const std::vector<Device>& devices,
                                     std::span<const int> ranks);

}  // namespace busbar
