// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {

/// The part of a problem that a set of its devices sees, ready to be compared with another.
class Induced {
 public:
  Induced(const RingProblem& problem, std::span<const int> set);

  /// Equal for problems that are alike; hardly ever equal for others.
  [[nodiscard]] std::uint64_t signature() const { return signature_; }

  /// True only if some renaming of the devices makes both the same linear program: hops, shares and
  /// capacities are compared one by one, never by the signature alone. Gives up (false) on problems
  /// so regular that the renaming is not found in a few thousand steps; such sets are solved apart.
  [[nodiscard]] bool like(const Induced& other) const;
  /// Whether this renaming (image of each device) makes the other of this one.
  [[nodiscard]] bool same_under(std::span<const int> image, const Induced& other) const;
  /// Necessary for two devices to be exchangeable; hardly ever true for others.
  [[nodiscard]] bool coloured_alike(std::size_t one, std::size_t other) const {
    return colours_[one] == colours_[other];
  }
  [[nodiscard]] std::size_t devices() const { return devices_; }

 private:
  friend class Renaming;
  /// A hop's use of a resource, as positions in the set.
  struct HopUse {
    int from = 0;
    int to = 0;
    double times = 1;

    friend auto operator<=>(const HopUse&, const HopUse&) = default;
  };
  /// A resource and all who share it.
  struct Row {
    double capacity = 0;
    std::vector<HopUse> uses{};
  };

  static void normalise(std::vector<Row>& rows);

  void colour_hops();
  void refine();

  std::size_t devices_ = 0;
  std::vector<Row> rows_{};  ///< sorted by their uses, no two with the same
  std::vector<std::vector<bool>> hops_{};
  std::vector<std::vector<std::uint64_t>> hop_colours_{};
  std::vector<std::uint64_t> colours_{};
  std::uint64_t signature_ = 0;
};

/// Tells which two devices of a problem may be exchanged without a change to it.
class Exchange {
 public:
  explicit Exchange(const RingProblem& problem);

  [[nodiscard]] bool unchanged_by(std::size_t one, std::size_t other) const;

 private:
  Induced all_;
};

/// Indices of the sets in groups of equal problems; groups by their first member, rising.
[[nodiscard]] std::vector<std::vector<std::size_t>> group_alike(
    const RingProblem& problem, std::span<const std::vector<int>> sets);

}  // namespace busbar::topo
