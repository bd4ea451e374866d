// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topo/bounds/bound.hpp"

namespace busbar::topo {

enum class Policy { Prefix, Best, Worst, Median, List };

[[nodiscard]] std::string_view name(Policy policy);

/// A set of devices and why it was taken.
struct Choice {
  Policy policy = Policy::Prefix;
  Bound bound{};         ///< its devices are the choice, ascending
  std::string reason{};  ///< one line: "best of 70 sets: 2 reach 100 GB/s; fewest NUMA nodes, then
                         ///< lowest index"
};

/// k of the devices of one host (of all where `host` is -1). Deterministic: by ring bound, then the
/// bound with PCIe, then fewest NUMA nodes, nearest NIC, lowest indices; Worst turns all but the
/// last around. Throws Error (Usage) where there are fewer than k, for Policy::List, and where more
/// than 20,000 sets that differ would have to be compared.
[[nodiscard]] Choice choose(const Graph& graph, int k, Policy policy,
                            const BoundOptions& options = {}, int host = -1);

/// Sets of one ring bound.
struct SetClass {
  double ring_GBps = 0;
  std::uint64_t count = 0;     ///< stops at 2^64 - 1: that many or more
  std::vector<int> example{};  ///< the lowest indices
  Bound bound{};               ///< of the example
  /// The same sets by what they fall back on where no ring closes over NVLink; else empty.
  std::vector<SetClass> fallback{};
};

/// All sets of k devices by their ring bound, falling; the counts add up to C(n, k). Figures within
/// 1e-6 of each other are one class. Throws Error (Usage) as choose does.
[[nodiscard]] std::vector<SetClass> classes_of(const Graph& graph, int k,
                                               const BoundOptions& options = {});

/// All devices in sets of k for jobs that run at once: the least bound is the greatest possible,
/// then the sum. More than 16 devices that are not one switched domain are divided host by host.
/// Throws Error (Usage) where k does not divide the devices, or those of each host.
[[nodiscard]] std::vector<Choice> partition(const Graph& graph, int k,
                                            const BoundOptions& options = {});

}  // namespace busbar::topo
