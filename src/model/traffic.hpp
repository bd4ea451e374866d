// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

  /// @name Of the rank with the most, in elements
  /// @{
  [[nodiscard]] std::uint64_t most_sent() const;
  [[nodiscard]] std::uint64_t most_received() const;
  [[nodiscard]] std::uint64_t most() const { return std::max(most_sent(), most_received()); }
  /// What passes the fullest port, in or out: of what a rank keeps nothing does.
  [[nodiscard]] std::uint64_t fullest_port() const;
  /// @}
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

}  // namespace busbar
