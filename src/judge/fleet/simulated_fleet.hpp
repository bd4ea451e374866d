// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "model/matching.hpp"

namespace busbar::judge {

/// Faults that can be planted.
enum class FaultKind { SlowNode, Bimodal, Link, Uplink, Trunk, Dead, Hang };

constexpr auto enum_names(FaultKind) {
  return std::array{Named{FaultKind::SlowNode, "slow-node"}, Named{FaultKind::Bimodal, "bimodal"},
                    Named{FaultKind::Link, "link"},          Named{FaultKind::Uplink, "uplink"},
                    Named{FaultKind::Trunk, "trunk"},        Named{FaultKind::Dead, "dead"},
                    Named{FaultKind::Hang, "hang"}};
}

/// So many of a kind, each at this share of its healthy rate.
struct PlantedFault {
  FaultKind kind = FaultKind::SlowNode;
  std::size_t count = 1;
  double factor = 0.5;
};

/// "slow-node:3:0.9,link:2:0.5,dead:1". Throws Error (Usage).
[[nodiscard]] std::vector<PlantedFault> parse_faults(std::string_view option,
                                                     std::string_view text);

/// How measurements scatter: a standard deviation, or measured factors, each the median of a launch
/// over that of its series.
struct Noise {
  double deviation = 0.03;
  std::vector<double> factors{};
};

/// A standard deviation, or a file with a factor on each line. Throws Error (Usage).
[[nodiscard]] Noise parse_noise(std::string_view option, const std::string& text);

/// Units of so many members each, from the narrowest: {32, 8} is 32 nodes a leaf, 8 leaves a pod.
[[nodiscard]] std::vector<NodePath> simulated_paths(std::size_t nodes,
                                                    const std::vector<std::size_t>& levels);

/// A fleet that is not there: rates of its pairs, which are drawn by the seed.
class SimulatedFleet {
 public:
  SimulatedFleet(std::vector<NodePath> paths, Noise noise, const std::vector<PlantedFault>& faults,
                 std::uint64_t seed);

  /// The logarithm of the rate of two nodes, which may be one, in a launch; none of a dead node.
  /// With the share of samples that are slower: the rate that such a quantile of samples has.
  [[nodiscard]] std::optional<double> log_rate(std::size_t first, std::size_t second,
                                               std::size_t launch, bool low_quantile = false);

  [[nodiscard]] const std::vector<NodePath>& paths() const { return paths_; }
  /// @name What was planted
  /// @{
  [[nodiscard]] const std::map<std::size_t, double>& slow() const { return slow_; }
  [[nodiscard]] const std::map<std::size_t, double>& bimodal() const { return bimodal_; }
  [[nodiscard]] const std::map<std::pair<std::size_t, std::size_t>, double>& links() const {
    return links_;
  }
  [[nodiscard]] const std::map<NodePath, double>& uplinks() const { return uplinks_; }
  [[nodiscard]] const std::map<std::pair<NodePath, NodePath>, double>& trunks() const {
    return trunks_;
  }
  [[nodiscard]] const std::set<std::size_t>& dead() const { return dead_; }
  [[nodiscard]] const std::set<std::size_t>& hanging() const { return hanging_; }
  /// @}

 private:
  void plant(const PlantedFault& fault);
  [[nodiscard]] std::size_t take_node();
  [[nodiscard]] double normal(double deviation);

  std::vector<NodePath> paths_;
  Noise noise_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::set<std::size_t> taken_{};  ///< nodes with a fault
  std::vector<double> nodes_{};    ///< healthy effects
  std::map<std::size_t, double> slow_{};
  std::map<std::size_t, double> bimodal_{};
  std::map<std::pair<std::size_t, std::size_t>, double> links_{};
  std::map<NodePath, double> uplinks_{};
  std::map<std::pair<NodePath, NodePath>, double> trunks_{};
  std::set<std::size_t> dead_{};
  std::set<std::size_t> hanging_{};
};

}  // namespace busbar::judge
