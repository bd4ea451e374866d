// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "base/units.hpp"

namespace busbar {

/// How many elements each rank sends to each, itself included: one operation whose parts differ.
class Traffic {
 public:
  /// All counts are 0; `distribution` is what it is drawn from, as the column has it.
  Traffic(int ranks, std::string distribution)
      : ranks_(static_cast<std::size_t>(ranks)),
        distribution_(std::move(distribution)),
        counts_(ranks_ * ranks_) {}

  [[nodiscard]] int ranks() const { return static_cast<int>(ranks_); }
  [[nodiscard]] const std::string& distribution() const { return distribution_; }
  void set(int from, int to, std::uint64_t elements) { counts_[place(from, to)] = elements; }
  [[nodiscard]] std::uint64_t count(int from, int to) const { return counts_[place(from, to)]; }

  /// Elements of what `from` sends that lie before the part for `to`: parts are in the order of
  /// those who get them, without gaps.
  [[nodiscard]] std::uint64_t send_offset(int from, int to) const;
  /// Elements of what `to` receives that lie before the part of `from`.
  [[nodiscard]] std::uint64_t recv_offset(int from, int to) const;

  /// Of the rank with the most, in elements.
  [[nodiscard]] std::uint64_t most_sent() const;
  [[nodiscard]] std::uint64_t most_received() const;
  [[nodiscard]] std::uint64_t most() const { return std::max(most_sent(), most_received()); }
  /// What passes the fullest port, in or out: of what a rank keeps nothing does.
  [[nodiscard]] std::uint64_t fullest_port() const;
  [[nodiscard]] std::uint64_t total() const;
  /// The fullest port over most(): what bus bandwidth is to algorithm bandwidth.
  [[nodiscard]] double port_share() const;
  /// The fullest port over the mean of all: 1 where all are as full. 0: nothing passes any.
  [[nodiscard]] double imbalance() const;

 private:
  [[nodiscard]] std::size_t place(int from, int to) const {
    return static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
  }

  std::size_t ranks_;
  std::string distribution_;
  std::vector<std::uint64_t> counts_;
};

enum class Skew { Uniform, Distance, Zipf, Hot, Sparse, Matrix, Moe };
constexpr auto enum_names(Skew) {
  return std::array{Named{Skew::Uniform, "uniform"}, Named{Skew::Distance, "distance"},
                    Named{Skew::Zipf, "zipf"},       Named{Skew::Hot, "hot"},
                    Named{Skew::Sparse, "sparse"},   Named{Skew::Matrix, "matrix"},
                    Named{Skew::Moe, "moe"}};
}

/// A mixture of experts, which lie on the ranks in blocks.
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
/// "matrix:FILE", whose bytes are multiplied by `scale`. Throws a usage error of the option.
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
