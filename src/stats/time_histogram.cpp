// SPDX-License-Identifier: BSD-3-Clause
#include "stats/time_histogram.hpp"

#include <cmath>

namespace busbar::stats {
void TimeHistogram::merge(const TimeHistogram& other) {
  std::ranges::transform(bins_, other.bins_, bins_.begin(), std::plus<>());
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

double TimeHistogram::at_rank(std::size_t rank) const {
  std::size_t bin = 0;
  std::uint64_t below = bins_[0];
  while (below < rank) below += bins_[++bin];
  const auto edge = [](std::size_t number) {
    return std::bit_cast<double>((kFirstBin + static_cast<std::int64_t>(number)) << kDroppedBits);
  };
  return std::clamp((edge(bin) + edge(bin + 1)) / 2, least_, most_);
}

double TimeHistogram::quantile(double share) const {
  const double rank = std::ceil(share * static_cast<double>(count_) - 1e-9);
  return at_rank(std::clamp<std::size_t>(static_cast<std::size_t>(rank), 1, count_));
}

std::optional<Interval> TimeHistogram::quantile_interval(double share) const {
  const auto ranks = quantile_ranks(count_, share);
  if (!ranks) return std::nullopt;
  return Interval{.low = at_rank(ranks->low), .high = at_rank(ranks->high)};
}

std::optional<Summary> TimeHistogram::summary() const {
  if (count_ == 0) return std::nullopt;
  return Summary{.count = count_,
                 .mean = sum_ / static_cast<double>(count_),
                 .min = least_,
                 .median = quantile(0.5),
                 .p90 = quantile(0.9),
                 .p99 = quantile(0.99),
                 .max = most_};
}

}  // namespace busbar::stats
