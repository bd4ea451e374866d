// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "topo/bounds/bound.hpp"

namespace busbar::topo {

enum class Policy { Prefix, Best, Worst, List };
constexpr auto enum_names(Policy) {
  return std::array{Named{Policy::Prefix, "prefix"}, Named{Policy::Best, "best"},
                    Named{Policy::Worst, "worst"}, Named{Policy::List, "list"}};
}

/// A set of devices and why it was taken.
struct Choice {
  Policy policy = Policy::Prefix;
  Bound bound{};         ///< its devices are the choice, ascending
  std::string reason{};  ///< one line: "best of 70 sets: 2 reach 100 GB/s; fewest NUMA nodes, then
                         ///< lowest index"
};

/// k of the devices of one host (of all where `host` is -1). Deterministic: by ring bound, then the
/// bound with PCIe, then fewest NUMA nodes, nearest NIC, lowest indices; Worst turns all but the
/// last around. Of more than kMostSets sets the choice grows from the best (worst) pair by the
/// device that is then the best (worst), or is the first k where that is better (worse), and the
/// reason says so. Throws Error (Usage) where there are fewer than k, and for Policy::List.
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
/// 1e-6 of each other are one class. Throws Error (Usage) for a k that there is not, and for more
/// than kMostSets sets that may differ.
[[nodiscard]] std::vector<SetClass> classes_of(const Graph& graph, int k,
                                               const BoundOptions& options = {});

/// Which devices are wanted: by a policy, or a list (Policy::List).
struct Selection {
  Policy policy = Policy::Prefix;
  std::vector<int> devices{};  ///< in the order given

  [[nodiscard]] bool operator==(const Selection&) const = default;
};

/// Reads prefix, best, worst, or "0,3,4-7". Throws a usage error that begins with `option`.
[[nodiscard]] Selection parse_selection(std::string_view option, std::string_view text);

/// "best", "0,3": as parse_selection reads it.
[[nodiscard]] std::string to_text(const Selection& selection);

/// What the selection means for k devices of one host (of all where `host` is -1). Throws Error
/// (Usage) for a list of another length or of devices that are not there.
[[nodiscard]] Choice select_devices(const Graph& graph, int k, const Selection& selection,
                                    const BoundOptions& options = {}, int host = -1);

/// One line of a comparison: a set of a system against the first line of its table and size.
struct SetComparison {
  std::string system{};  ///< the graph's name; of a summary, which set: "best 4"
  Choice choice{};       ///< Policy::List where the set was given
  double ratio = 0;      ///< bound_GBps over that of the first; 0 where the first has none
};

/// The sets, in the order given, against the first of them. Throws Error (Usage) for what is no
/// device or twice in a set.
[[nodiscard]] std::vector<SetComparison> compare_sets(const Graph& graph,
                                                      std::span<const std::vector<int>> sets,
                                                      const BoundOptions& options = {});

/// For each k every system's choice, against the first system that has k devices; systems with
/// fewer are left out. Throws Error (Usage) for k < 1.
[[nodiscard]] std::vector<SetComparison> compare_systems(std::span<const Graph> graphs,
                                                         std::span<const int> ks, Policy policy,
                                                         const BoundOptions& options = {});

/// All devices, then the best and the worst set of 2, 4, 8 ... from the largest down, one line
/// where they are equal; each against the best of its size. Of several hosts, sets of the first.
/// Nothing for one device.
[[nodiscard]] std::vector<SetComparison> summarize(const Graph& graph,
                                                   const BoundOptions& options = {});

}  // namespace busbar::topo
