// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "harness/row_record.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

/// Of each of the two tests. So strict, because a run has many rows, and a machine that does other
/// things too has ranks that are late by chance for a while.
constexpr double kSignificance = 1e-4;

/// Whether `hits` (1 or 0 each, in time) are more than `chance` gives independent samples of them.
bool is_beyond_chance(std::span<const double> hits, double chance, double tests) {
  const double trials =
      std::floor(static_cast<double>(hits.size()) / stats::integrated_autocorrelation_time(hits));
  const double sum = std::accumulate(hits.begin(), hits.end(), 0.0);
  const double successes = std::floor(trials * sum / static_cast<double>(hits.size()));
  return stats::binomial_tail(successes, trials, chance) * tests < kSignificance;
}

/// The ranks of a row, each as a member of its host.
struct RowRanks {
  std::vector<std::string> hosts;  ///< different ones
  std::vector<int> host_of;        ///< index into hosts, by rank of the row
};

RowRanks ranks_by_host(const std::vector<int>& ranks, const RankMap& rank_map) {
  RowRanks by_host;
  for (const int rank : ranks) {
    const std::string host = rank_map.ranks[static_cast<std::size_t>(rank)].host.data();
    const auto known = std::ranges::find(by_host.hosts, host);
    by_host.host_of.push_back(static_cast<int>(known - by_host.hosts.begin()));
    if (known == by_host.hosts.end()) by_host.hosts.push_back(host);
  }
  return by_host;
}

/// Of the ranks of a row, those that were last in samples in which it made a difference.
std::vector<int> noticeable(const Row& row) {
  constexpr double kLeast = 0.01;
  const Record& record = row.record;
  const double whole_us = record.time_median_us.value_or(0) + record.load_us.value_or(0);
  std::vector<int> last;
  for (const Arrival& arrival : row.arrivals) {
    if (arrival.late_us >= kLeast * whole_us) last.push_back(arrival.last);
  }
  return last;
}

std::optional<int> find_last_host(std::vector<int> last, const RowRanks& ranks) {
  std::vector<double> chances(ranks.hosts.size());
  for (const int host : ranks.host_of) {
    chances[static_cast<std::size_t>(host)] += 1 / static_cast<double>(ranks.host_of.size());
  }
  for (int& who : last) who = ranks.host_of[static_cast<std::size_t>(who)];
  return find_last(last, chances);
}

}  // namespace

void name_last(Row& row, const std::vector<int>& ranks, const RankMap& rank_map) {
  if (row.arrivals.empty()) return;
  Record& record = row.record;
  const RowRanks by_host = ranks_by_host(ranks, rank_map);
  const std::vector<int> last = noticeable(row);
  const auto host = find_last_host(last, by_host);
  const auto rank =
      find_last(last, std::vector<double>(ranks.size(), 1 / static_cast<double>(ranks.size())));
  if (!host && !rank) return;
  const auto host_of = [&](int who) { return by_host.host_of[static_cast<std::size_t>(who)]; };
  record.last_host = by_host.hosts[static_cast<std::size_t>(rank ? host_of(*rank) : *host)];
  if (rank) record.last_rank = ranks[static_cast<std::size_t>(*rank)];
  std::vector<double> late_us;
  double hits = 0;
  for (const Arrival& arrival : row.arrivals) {
    late_us.push_back(arrival.late_us);
    hits += (rank ? arrival.last == *rank : host_of(arrival.last) == *host) ? 1 : 0;
  }
  record.last_share = hits / static_cast<double>(row.arrivals.size());
  record.late_by_us = stats::median(late_us);
}

std::optional<int> find_last(std::span<const int> last, std::span<const double> chances) {
  if (last.empty() || chances.size() < 2) return std::nullopt;
  std::vector<std::size_t> counts(chances.size());
  for (const int which : last) ++counts.at(static_cast<std::size_t>(which));
  // By how often each was last beyond its chance.
  const auto excess = [&](int which) {
    const auto i = static_cast<std::size_t>(which);
    return static_cast<double>(counts[i]) - chances[i] * static_cast<double>(last.size());
  };
  std::vector<int> order = first_numbers(chances.size());
  std::ranges::partial_sort(order, order.begin() + 2,
                            [&](int a, int b) { return excess(a) > excess(b); });
  const int first = order[0];
  const int second = order[1];
  std::vector<double> all;
  std::vector<double> of_both;  // of the samples in which one of the two was last
  for (const int which : last) {
    all.push_back(which == first ? 1 : 0);
    if (which == first || which == second) of_both.push_back(all.back());
  }
  const double chance = chances[static_cast<std::size_t>(first)];
  const double other = chances[static_cast<std::size_t>(second)];
  const bool found = is_beyond_chance(all, chance, static_cast<double>(chances.size())) &&
                     is_beyond_chance(of_both, chance / (chance + other), 1);
  return found ? std::optional{first} : std::nullopt;
}

}  // namespace busbar
