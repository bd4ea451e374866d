// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/units.hpp"
#include "model/traffic.hpp"

namespace busbar {

enum class Skew { Uniform, Distance, Zipf, Hot, Sparse, Matrix, Moe };
constexpr auto enum_names(Skew) {
  return std::array{Named{Skew::Uniform, "uniform"}, Named{Skew::Distance, "distance"},
                    Named{Skew::Zipf, "zipf"},       Named{Skew::Hot, "hot"},
                    Named{Skew::Sparse, "sparse"},   Named{Skew::Matrix, "matrix"},
                    Named{Skew::Moe, "moe"}};
}

/// A mixture of experts: each token goes to so many of the experts, which lie on the ranks in
/// blocks.
struct ExpertLoad {
  std::uint64_t tokens = 0;   ///< of each rank
  std::uint64_t hidden = 0;   ///< elements of a token
  std::uint64_t chosen = 0;   ///< experts that a token goes to, all different
  std::uint64_t experts = 0;  ///< of all ranks
  double zipf = 0;            ///< the k-th most popular expert has the weight 1/k^zipf
};

/// nccl-tests' traffic matrix: bytes from each rank to each.
struct TrafficMatrix {
  std::string name{};  ///< "traffic.txt@1a2b3c4d": the file's, and a checksum of its figures
  int ranks = 0;
  std::vector<Bytes> bytes{};
};

/// How parts differ: a shape for any size, or parts of sizes of their own (has_own_size).
struct Distribution {
  Skew skew = Skew::Distance;
  /// Distance: from 0 (all alike) to 1; Zipf: the exponent; Hot: how many ranks; Sparse: the share
  /// of the ranks that a rank sends to.
  double figure = 1;
  double hot_share = 0.5;  ///< Hot: of what a rank sends
  ExpertLoad experts{};
  std::shared_ptr<const TrafficMatrix> matrix{};
  std::uint64_t seed = 1;  ///< of what is drawn: which ranks, which experts

  [[nodiscard]] bool has_own_size() const { return skew >= Skew::Matrix; }
};

/// "uniform", "distance", "distance:0.5", "zipf:1.2", "hot:2", "hot:2:0.8", "sparse:0.25",
/// "matrix:FILE", whose bytes are multiplied by `scale`. Throws a usage error that begins with the
/// option.
[[nodiscard]] Distribution parse_skew(std::string_view option, std::string_view text,
                                      double scale = 1);
/// "4096,7168,8,256" or "4096,7168,8,256,zipf:1": tokens, hidden, topk, experts.
[[nodiscard]] Distribution parse_experts(std::string_view option, std::string_view text);

/// The column `distribution`: as parse_skew reads it, or "moe:4096:7168:8:256:zipf:1".
[[nodiscard]] std::string to_text(const Distribution& distribution);

/// What the ranks send where the rank with the most sends or receives `wanted` bytes, or as many as
/// the distribution has. Parts are whole elements and, as nccl-tests', multiples of 16 bytes; the
/// same everywhere for a seed. Throws a usage error where it does not fit so many ranks.
[[nodiscard]] Traffic traffic_of(const Distribution& distribution, Bytes wanted, Bytes element,
                                 int ranks);

}  // namespace busbar
