// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "stats/median_interval.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar::stats {

/// Times in fixed memory, however many they are: each power of two has 256 bins of equal width
/// ("log-linear", as HdrHistogram's). Count, mean, minimum and maximum are exact; a quantile is off
/// by at most kRelativeError of itself from 1 ns to 4 h, where times are in microseconds.
class TimeHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 512;  ///< half the width of a bin
  static constexpr std::size_t kBytes = 90112;         ///< of memory

  void add(double time) {
    ++bins_[bin_of(time)];
    ++count_;
    sum_ += time;
    least_ = std::min(least_, time);
    most_ = std::max(most_, time);
  }
  void merge(const TimeHistogram& other);
  void clear() { *this = TimeHistogram(); }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }
  /// The time of rank ceil(share * count), share in 0..1; precondition: not empty.
  [[nodiscard]] double quantile(double share) const;
  /// Its 95 % interval (quantile_ranks).
  [[nodiscard]] std::optional<Interval> quantile_interval(double share) const;
  /// All but the deviation, which stays 0; nullopt when empty.
  [[nodiscard]] std::optional<Summary> summary() const;

 private:
  static constexpr int kLeastExponent = -10;
  static constexpr int kMostExponent = 34;
  static constexpr int kBinBits = 8;
  static constexpr int kDroppedBits = 52 - kBinBits;  // of a double's mantissa
  static constexpr std::int64_t kBias = 1023;
  static constexpr std::int64_t kFirstBin = (kLeastExponent + kBias) << kBinBits;
  static constexpr std::int64_t kBins = std::int64_t{kMostExponent - kLeastExponent} << kBinBits;
  static_assert(kBins * sizeof(std::uint64_t) == kBytes);

  [[nodiscard]] static std::size_t bin_of(double time) {
    const std::int64_t bin = (std::bit_cast<std::int64_t>(time) >> kDroppedBits) - kFirstBin;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, kBins - 1));
  }
  [[nodiscard]] double at_rank(std::size_t rank) const;

  std::vector<std::uint64_t> bins_ = std::vector<std::uint64_t>(kBins);
  std::size_t count_ = 0;
  double sum_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = 0;
};

}  // namespace busbar::stats
