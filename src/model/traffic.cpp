// SPDX-License-Identifier: BSD-3-Clause
#include "model/traffic.hpp"

#include <algorithm>
#include <numeric>

namespace busbar {

std::uint64_t Traffic::send_offset(int from, int to) const {
  std::uint64_t before = 0;
  for (int other = 0; other < to; ++other) before += count(from, other);
  return before;
}

std::uint64_t Traffic::recv_offset(int from, int to) const {
  std::uint64_t before = 0;
  for (int other = 0; other < from; ++other) before += count(other, to);
  return before;
}

std::uint64_t Traffic::most_sent() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) most = std::max(most, send_offset(rank, ranks()));
  return most;
}

std::uint64_t Traffic::most_received() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) most = std::max(most, recv_offset(ranks(), rank));
  return most;
}

std::uint64_t Traffic::fullest_port() const {
  std::uint64_t most = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t larger = std::max(send_offset(rank, ranks()), recv_offset(ranks(), rank));
    most = std::max(most, larger - count(rank, rank));
  }
  return most;
}

std::uint64_t Traffic::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Traffic::port_share() const {
  return most() == 0 ? 0 : static_cast<double>(fullest_port()) / static_cast<double>(most());
}

double Traffic::imbalance() const {
  std::uint64_t kept = 0;
  for (int rank = 0; rank < ranks(); ++rank) kept += count(rank, rank);
  const std::uint64_t passing = total() - kept;
  if (passing == 0) return 0;
  return static_cast<double>(fullest_port()) * static_cast<double>(ranks()) /
         static_cast<double>(passing);
}

}  // namespace busbar
